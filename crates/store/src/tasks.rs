//! Tasks: one unit of work of a run, whatever its kind. Planned with their run, begun when a player comes to them, ended
//! once.

use std::ops::RangeInclusive;

use domain::timing::TaskSeconds;
use futures::TryStreamExt;
use serde::de::DeserializeOwned;
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
    /// Not of one that has only a row, such as an episode that was opened just now.
    pub has_events: bool,
}

/// Those of ranges of positions that have begun: of each position the last attempt.
pub async fn begun(db: &mut PgConnection, run: Uuid, ranges: &[RangeInclusive<i32>]) -> Result<Vec<BegunTask>> {
    let rows = sqlx::query!(
        r#"SELECT id, position, scenario, repeat, persona, complexity, attempt, outcome IS NOT NULL AS "ended!",
                  EXISTS (SELECT FROM events WHERE task_id = tasks.id) AS "has_events!"
           FROM unnest($2::int[], $3::int[]) AS range (first, last)
           JOIN tasks ON run_id = $1 AND position BETWEEN first AND last AND NOT superseded"#,
        run,
        &ranges.iter().map(|range| *range.start()).collect::<Vec<_>>(),
        &ranges.iter().map(|range| *range.end()).collect::<Vec<_>>()
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
            has_events: row.has_events,
        })
        .collect())
}

/// The last events of those of a range of positions that have ended, with their positions, in order.
pub async fn last_events<E: DeserializeOwned>(
    db: &mut PgConnection,
    run: Uuid,
    positions: RangeInclusive<i32>,
) -> Result<Vec<(i32, E)>> {
    let rows = sqlx::query!(
        r#"SELECT position, last.event AS "event!" FROM tasks
           CROSS JOIN LATERAL (SELECT event::text AS event FROM events WHERE task_id = tasks.id ORDER BY seq DESC LIMIT 1) AS last
           WHERE run_id = $1 AND position BETWEEN $2 AND $3 AND NOT superseded AND outcome IS NOT NULL
           ORDER BY position"#,
        run,
        positions.start(),
        positions.end()
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    let read = |position: i32, event: &str| {
        let unreadable = |error: serde_json::Error| BadRow {
            table: "events",
            column: "event",
            row: format!("the last one of {run} at {position}"),
            reason: error.to_string(),
        };
        Ok((position, serde_json::from_str(event).map_err(unreadable)?))
    };
    rows.map(|row| read(row.position, &row.event)).collect()
}

/// What a summary of a run says of a task that has ended.
pub struct EndedTask {
    pub accepted: bool,
    /// Of a row of a workflow with an output: its metrics by name, as JSON.
    pub metrics: Option<String>,
    /// `None` of a task that was not played, or by an older version of the program.
    pub seconds: Option<TaskSeconds>,
}

/// Hands over the tasks at these positions that have ended, one at a time.
pub async fn each_ended(
    db: &mut PgConnection,
    run: Uuid,
    positions: &[i32],
    mut each: impl FnMut(EndedTask),
) -> Result<()> {
    let rows = sqlx::query!(
        r#"SELECT outcome = 'accepted' AS "accepted!", metrics::text AS metrics, seconds, seconds_processing,
                  seconds_queueing, seconds_initialising
           FROM tasks WHERE run_id = $1 AND position = ANY($2) AND NOT superseded AND outcome IS NOT NULL"#,
        run,
        positions
    );
    let mut rows = rows.fetch(db);
    while let Some(row) = rows.try_next().await? {
        let seconds = row.seconds.map(|total| TaskSeconds {
            total,
            processing: row.seconds_processing.unwrap_or_default(),
            queueing: row.seconds_queueing.unwrap_or_default(),
            initialising: row.seconds_initialising.unwrap_or_default(),
        });
        each(EndedTask { accepted: row.accepted, metrics: row.metrics, seconds });
    }
    Ok(())
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
