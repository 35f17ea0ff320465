//! The manifest of a corpus, page by page.

use domain::api::{CorpusConversation, ManifestRow, Neighbours};
use domain::corpus::{Side, Step};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{BadRow, Result};

/// The rows after one, in order.
pub async fn manifest(db: &mut PgConnection, corpus: Uuid, after: i32, limit: i64) -> Result<Vec<ManifestRow>> {
    let rows = sqlx::query!(
        r#"SELECT ordinal, r.run_id, conversation_id, split, dropped_by, r.reason, position, scenario AS "scenario!"
         FROM corpus_rows r JOIN tasks c ON c.id = conversation_id
         WHERE corpus_id = $1 AND ordinal > $2 ORDER BY ordinal LIMIT $3"#,
        corpus,
        after,
        limit
    );
    let mut manifest = Vec::new();
    for row in rows.fetch_all(db).await? {
        manifest.push(ManifestRow {
            ordinal: row.ordinal,
            conversation: row.conversation_id.to_string(),
            run: row.run_id.to_string(),
            position: row.position,
            scenario: row.scenario,
            split: row.split.map(|name| side(row.conversation_id, &name)).transpose()?,
            dropped_by: row.dropped_by.map(|name| step(row.conversation_id, &name)).transpose()?,
            reason: row.reason,
        });
    }
    Ok(manifest)
}

/// Which rows of a list: after one, and after so many more.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    pub after: i32,
    pub skip: i64,
    pub limit: i64,
}

/// Conversations that stayed, in order; of one side if one is named.
pub async fn kept(
    db: &mut PgConnection,
    corpus: Uuid,
    of: Option<Side>,
    part: Part,
) -> Result<Vec<CorpusConversation>> {
    let rows = sqlx::query!(
        r#"SELECT ordinal, r.run_id, conversation_id, split AS "split!", position, scenario AS "scenario!", persona AS "persona!", complexity AS "complexity!"
           FROM corpus_rows r JOIN tasks c ON c.id = conversation_id
           WHERE corpus_id = $1 AND ordinal > $2 AND split IS NOT NULL AND ($3::text IS NULL OR split = $3)
           ORDER BY ordinal LIMIT $4 OFFSET $5"#,
        corpus,
        part.after,
        of.map(|side| side.into_str()),
        part.limit,
        part.skip
    );
    let mut found = Vec::new();
    for row in rows.fetch_all(db).await? {
        found.push(CorpusConversation {
            ordinal: row.ordinal,
            conversation: row.conversation_id.to_string(),
            run: row.run_id.to_string(),
            position: row.position,
            scenario: row.scenario,
            persona: row.persona,
            complexity: row.complexity,
            split: side(row.conversation_id, &row.split)?,
        });
    }
    Ok(found)
}

/// Conversations that did not stay, in order; of one step if one is named.
pub async fn dropped(db: &mut PgConnection, corpus: Uuid, by: Option<Step>, part: Part) -> Result<Vec<ManifestRow>> {
    let rows = sqlx::query!(
        r#"SELECT ordinal, r.run_id, conversation_id, dropped_by AS "dropped_by!", r.reason, position, scenario AS "scenario!"
           FROM corpus_rows r JOIN tasks c ON c.id = conversation_id
           WHERE corpus_id = $1 AND ordinal > $2 AND dropped_by IS NOT NULL AND ($3::text IS NULL OR dropped_by = $3)
           ORDER BY ordinal LIMIT $4 OFFSET $5"#,
        corpus,
        part.after,
        by.map(|step| step.into_str()),
        part.limit,
        part.skip
    );
    let mut found = Vec::new();
    for row in rows.fetch_all(db).await? {
        found.push(ManifestRow {
            ordinal: row.ordinal,
            conversation: row.conversation_id.to_string(),
            run: row.run_id.to_string(),
            position: row.position,
            scenario: row.scenario,
            split: None,
            dropped_by: Some(step(row.conversation_id, &row.dropped_by)?),
            reason: row.reason,
        });
    }
    Ok(found)
}

/// What comes before and after a conversation in the list that it is in: of what stayed, or of what did not. `None` if it is
/// in neither.
pub async fn neighbours(
    db: &mut PgConnection,
    corpus: Uuid,
    conversation: Uuid,
    of: Option<Side>,
    by: Option<Step>,
) -> Result<Option<Neighbours>> {
    let found = sqlx::query!(
        "SELECT (SELECT conversation_id FROM corpus_rows r
                 WHERE r.corpus_id = $1 AND r.ordinal < here.ordinal AND (r.split IS NULL) = (here.split IS NULL)
                   AND ($3::text IS NULL OR here.split IS NULL OR r.split = $3)
                   AND ($4::text IS NULL OR here.split IS NOT NULL OR r.dropped_by = $4)
                 ORDER BY r.ordinal DESC LIMIT 1) AS previous,
                (SELECT conversation_id FROM corpus_rows r
                 WHERE r.corpus_id = $1 AND r.ordinal > here.ordinal AND (r.split IS NULL) = (here.split IS NULL)
                   AND ($3::text IS NULL OR here.split IS NULL OR r.split = $3)
                   AND ($4::text IS NULL OR here.split IS NOT NULL OR r.dropped_by = $4)
                 ORDER BY r.ordinal LIMIT 1) AS next
         FROM corpus_rows here WHERE here.corpus_id = $1 AND here.conversation_id = $2",
        corpus,
        conversation,
        of.map(|side| side.into_str()),
        by.map(|step| step.into_str())
    );
    let text = |id: Option<Uuid>| id.map(|id| id.to_string());
    let found = found.fetch_optional(db).await?;
    Ok(found.map(|found| Neighbours { previous: text(found.previous), next: text(found.next) }))
}

fn side(row: Uuid, name: &str) -> Result<Side> {
    Ok(name.parse().map_err(|_| bad(row, "split", format!("`{name}` is no side")))?)
}

fn step(row: Uuid, name: &str) -> Result<Step> {
    Ok(name.parse().map_err(|_| bad(row, "dropped_by", format!("`{name}` is no step")))?)
}

fn bad(row: Uuid, column: &'static str, reason: String) -> BadRow {
    BadRow { table: "corpus_rows", column, row: row.to_string(), reason }
}
