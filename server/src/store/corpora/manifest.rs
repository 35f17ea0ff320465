//! The manifest of a corpus, page by page.

use domain::corpus::{CorpusConversation, ManifestRow, Side, Step};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::store::{BadRow, Result};

/// The rows after one, in order.
pub async fn manifest(db: &mut PgConnection, corpus: Uuid, after: i32, limit: i64) -> Result<Vec<ManifestRow>> {
    let rows = sqlx::query!(
        "SELECT ordinal, r.run_id, conversation_id, split, dropped_by, r.reason, position, scenario
         FROM corpus_rows r JOIN conversations c ON c.id = conversation_id
         WHERE corpus_id = $1 AND ordinal > $2 ORDER BY ordinal LIMIT $3",
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

/// Which of the conversations that stayed.
pub struct Kept {
    /// `None`: of both sides.
    pub of: Option<Side>,
    /// After this one, and after so many more.
    pub after: i32,
    pub skip: u32,
    pub limit: i64,
}

/// Conversations that stayed, in order.
pub async fn conversations(db: &mut PgConnection, corpus: Uuid, kept: &Kept) -> Result<Vec<CorpusConversation>> {
    let rows = sqlx::query!(
        r#"SELECT ordinal, r.run_id, conversation_id, split AS "split!", position, scenario, persona, complexity
           FROM corpus_rows r JOIN conversations c ON c.id = conversation_id
           WHERE corpus_id = $1 AND ordinal > $2 AND split IS NOT NULL AND ($3::text IS NULL OR split = $3)
           ORDER BY ordinal LIMIT $4 OFFSET $5"#,
        corpus,
        kept.after,
        kept.of.map(Side::as_str),
        kept.limit,
        i64::from(kept.skip)
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

fn side(row: Uuid, name: &str) -> Result<Side> {
    let known = Side::ALL.into_iter().find(|side| side.as_str() == name);
    Ok(known.ok_or_else(|| bad(row, "split", format!("`{name}` is no side")))?)
}

fn step(row: Uuid, name: &str) -> Result<Step> {
    let known = Step::ALL.into_iter().find(|step| step.as_str() == name);
    Ok(known.ok_or_else(|| bad(row, "dropped_by", format!("`{name}` is no step")))?)
}

fn bad(row: Uuid, column: &'static str, reason: String) -> BadRow {
    BadRow { table: "corpus_rows", column, row: row.to_string(), reason }
}
