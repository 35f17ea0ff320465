//! Conversations: planned with their run, finished once.

use std::ops::RangeInclusive;

use domain::api::ConversationSummary;
use domain::outcome::{Blame, Outcome};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{BadRow, Result};

/// A conversation as it is planned.
#[derive(Debug, Clone)]
pub struct Planned {
    pub id: Uuid,
    pub position: i32,
    pub scenario: String,
    pub repeat: i32,
    pub persona: String,
    pub complexity: String,
    /// From 1; more if somebody else than the agent spoiled the ones before.
    pub attempt: i32,
}

/// The id of the attempt that follows. Whoever asks is told the same.
pub fn next_attempt(spoiled: &Uuid) -> Uuid {
    Uuid::new_v5(spoiled, b"again")
}

impl Planned {
    /// The attempt that takes its place.
    #[must_use]
    pub fn again(&self) -> Self {
        Self { id: next_attempt(&self.id), attempt: self.attempt + 1, ..self.clone() }
    }
}

/// A conversation that has a row already.
pub struct Begun {
    pub planned: Planned,
    pub ended: bool,
}

/// Those of a range of positions that have begun: of each position the last attempt.
pub async fn begun(db: &mut PgConnection, run: Uuid, positions: RangeInclusive<i32>) -> Result<Vec<Begun>> {
    let rows = sqlx::query!(
        r#"SELECT id, position, scenario, repeat, persona, complexity, attempt, outcome IS NOT NULL AS "ended!"
           FROM conversations WHERE run_id = $1 AND position BETWEEN $2 AND $3 AND NOT superseded"#,
        run,
        positions.start(),
        positions.end()
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    Ok(rows
        .map(|row| Begun {
            planned: Planned {
                id: row.id,
                position: row.position,
                scenario: row.scenario,
                repeat: row.repeat,
                persona: row.persona,
                complexity: row.complexity,
                attempt: row.attempt,
            },
            ended: row.ended,
        })
        .collect())
}

/// What has ended, in order: of each position the last attempt.
pub async fn finished(db: &mut PgConnection, run: Uuid) -> Result<Vec<Planned>> {
    let ended = sqlx::query_as!(
        Planned,
        "SELECT id, position, scenario, repeat, persona, complexity, attempt FROM conversations
         WHERE run_id = $1 AND outcome IS NOT NULL AND NOT superseded ORDER BY position",
        run
    );
    Ok(ended.fetch_all(db).await?)
}

/// What came to an end that a judge can look at, in order: of each position the last attempt.
pub async fn ended(db: &mut PgConnection, run: Uuid) -> Result<Vec<Planned>> {
    let ended = sqlx::query_as!(
        Planned,
        "SELECT id, position, scenario, repeat, persona, complexity, attempt FROM conversations
         WHERE run_id = $1 AND outcome IS NOT NULL AND NOT superseded
           AND EXISTS (SELECT FROM events WHERE conversation_id = id AND event -> 'event' -> 'ended' IS NOT NULL)
         ORDER BY position",
        run
    );
    Ok(ended.fetch_all(db).await?)
}

/// How one conversation was planned, and its run.
pub async fn planned(db: &mut PgConnection, id: Uuid) -> Result<Option<(Uuid, Planned)>> {
    let row = sqlx::query!(
        "SELECT run_id, id, position, scenario, repeat, persona, complexity, attempt FROM conversations WHERE id = $1",
        id
    );
    Ok(row.fetch_optional(db).await?.map(|row| {
        let (position, scenario, repeat, attempt) = (row.position, row.scenario, row.repeat, row.attempt);
        let (persona, complexity) = (row.persona, row.complexity);
        (row.run_id, Planned { id: row.id, position, scenario, repeat, persona, complexity, attempt })
    }))
}

/// Of these, those of a project that have ended.
pub async fn ended_in_project(db: &mut PgConnection, project: Uuid, ids: &[Uuid]) -> Result<Vec<Uuid>> {
    let ended = sqlx::query_scalar!(
        "SELECT c.id FROM conversations c JOIN runs ON runs.id = c.run_id
         WHERE c.id = ANY($2) AND project_id = $1 AND outcome IS NOT NULL",
        project,
        ids
    );
    Ok(ended.fetch_all(db).await?)
}

/// What a corpus keeps, in order.
pub async fn of_corpus(db: &mut PgConnection, corpus: Uuid) -> Result<Vec<Uuid>> {
    let kept = sqlx::query_scalar!(
        "SELECT conversation_id FROM corpus_rows WHERE corpus_id = $1 AND split IS NOT NULL ORDER BY ordinal",
        corpus
    );
    Ok(kept.fetch_all(db).await?)
}

/// One page of a run, after a position.
pub async fn page(db: &mut PgConnection, run: Uuid, after: i32, limit: i64) -> Result<Vec<ConversationSummary>> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT c.id, c.run_id, c.position, c.scenario, c.persona, c.complexity, c.outcome, c.blame, c.reason,
                  v.overall AS "overall?",
                  (SELECT count(*) FROM events WHERE conversation_id = c.id) AS "events!"
           FROM conversations c JOIN judgings j ON j.run_id = c.run_id AND j.original
                LEFT JOIN verdicts v ON v.conversation_id = c.id AND v.judging_id = j.id
           WHERE c.run_id = $1 AND c.position > $2 AND NOT c.superseded ORDER BY c.position LIMIT $3"#,
        run,
        after,
        limit
    )
    .fetch_all(db)
    .await?;
    rows.into_iter().map(Row::summary).collect()
}

/// A conversation and the run it belongs to.
pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<(Uuid, ConversationSummary)>> {
    let row = sqlx::query_as!(
        Row,
        r#"SELECT c.id, c.run_id, c.position, c.scenario, c.persona, c.complexity, c.outcome, c.blame, c.reason,
                  v.overall AS "overall?",
                  (SELECT count(*) FROM events WHERE conversation_id = c.id) AS "events!"
           FROM conversations c JOIN judgings j ON j.run_id = c.run_id AND j.original
                LEFT JOIN verdicts v ON v.conversation_id = c.id AND v.judging_id = j.id
           WHERE c.id = $1"#,
        id
    )
    .fetch_optional(db)
    .await?;
    row.map(|row| Ok((row.run_id, row.summary()?))).transpose()
}

struct Row {
    id: Uuid,
    run_id: Uuid,
    position: i32,
    scenario: String,
    persona: String,
    complexity: String,
    outcome: Option<String>,
    blame: Option<String>,
    reason: Option<String>,
    overall: Option<i16>,
    events: i64,
}

impl Row {
    fn summary(self) -> Result<ConversationSummary> {
        let outcome = outcome("conversations", self.id, self.outcome.as_deref(), self.blame.as_deref(), self.reason)?;
        Ok(ConversationSummary {
            id: self.id.to_string(),
            position: self.position,
            scenario: self.scenario,
            persona: self.persona,
            complexity: self.complexity,
            outcome,
            overall: self.overall,
            events: self.events,
        })
    }
}

/// An outcome as it is stored: name, blame, reason.
pub fn columns(outcome: &Outcome) -> (&'static str, Option<&'static str>, Option<&str>) {
    match outcome {
        Outcome::Accepted => ("accepted", None, None),
        Outcome::Failed { blame, reason } => ("failed", Some(blame.as_str()), Some(reason.as_str())),
    }
}

/// An outcome as it was stored.
pub fn outcome(
    table: &'static str,
    row: Uuid,
    name: Option<&str>,
    blame: Option<&str>,
    reason: Option<String>,
) -> Result<Option<Outcome>> {
    let name = match name {
        None => return Ok(None),
        Some("accepted") => return Ok(Some(Outcome::Accepted)),
        Some(_) => blame.unwrap_or_default(),
    };
    let blame = Blame::ALL.into_iter().find(|b| b.as_str() == name).ok_or_else(|| BadRow {
        table,
        column: "blame",
        row: row.to_string(),
        reason: format!("`{name}` is nobody"),
    })?;
    Ok(Some(Outcome::Failed { blame, reason: reason.unwrap_or_default() }))
}
