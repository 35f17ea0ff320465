//! Tasks: one unit of work of a run, whatever its kind. Planned with their run, begun when a player comes to them, ended
//! once.

use std::ops::RangeInclusive;

use sqlx::PgConnection;
use uuid::Uuid;

use super::{BadRow, Result};

/// A task as it is planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedTask {
    pub id: Uuid,
    /// Place in its run, from 0.
    pub position: i32,
    /// From 1; more if somebody else than the agent spoiled the ones before.
    pub attempt: i32,
    /// What only a conversation has.
    pub conversation: Option<ConversationPlan>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationPlan {
    pub scenario: String,
    /// How often the run has played this scenario before.
    pub repeat: i32,
    pub persona: String,
    pub complexity: String,
}

impl PlannedTask {
    /// The attempt that takes its place. Its id follows from the spoiled one, so that everybody gives it the same.
    #[must_use]
    pub fn retry(&self) -> Self {
        Self { id: retry_id(&self.id), attempt: self.attempt + 1, ..self.clone() }
    }
}

pub(crate) fn retry_id(spoiled: &Uuid) -> Uuid {
    Uuid::new_v5(spoiled, b"again")
}

/// A task that has a row already.
pub struct BegunTask {
    pub planned: PlannedTask,
    pub ended: bool,
}

/// Those of a range of positions that have begun: of each position the last attempt.
pub async fn begun(db: &mut PgConnection, run: Uuid, positions: RangeInclusive<i32>) -> Result<Vec<BegunTask>> {
    let rows = sqlx::query!(
        r#"SELECT id, position, scenario, repeat, persona, complexity, attempt, outcome IS NOT NULL AS "ended!"
           FROM tasks WHERE run_id = $1 AND position BETWEEN $2 AND $3 AND NOT superseded"#,
        run,
        positions.start(),
        positions.end()
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    Ok(rows
        .map(|row| BegunTask {
            planned: PlannedTask {
                id: row.id,
                position: row.position,
                attempt: row.attempt,
                conversation: plan(row.scenario, row.repeat, row.persona, row.complexity),
            },
            ended: row.ended,
        })
        .collect())
}

/// All of these, or none: the table has a check.
fn plan(
    scenario: Option<String>,
    repeat: Option<i32>,
    persona: Option<String>,
    complexity: Option<String>,
) -> Option<ConversationPlan> {
    Some(ConversationPlan { scenario: scenario?, repeat: repeat?, persona: persona?, complexity: complexity? })
}

/// The outcome of a task that has ended: `accepted`, or who is to blame.
pub async fn outcome(db: &mut PgConnection, id: Uuid) -> Result<Option<String>> {
    let row = sqlx::query!("SELECT outcome, blame FROM tasks WHERE id = $1", id).fetch_optional(db).await?;
    let missing = || BadRow { table: "tasks", column: "id", row: id.to_string(), reason: "is not there".to_owned() };
    let row = row.ok_or_else(missing)?;
    Ok(row.blame.or(row.outcome))
}
