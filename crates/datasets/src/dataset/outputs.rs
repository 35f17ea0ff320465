//! The outputs of a run of a workflow: what a dataset of such a run is made of.

use std::path::Path;

use anyhow::ensure;
use domain::export::RunRows;
use sqlx::PgPool;
use store::runs::{self, Run};
use store::tasks;
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;
use uuid::Uuid;
use workflow::{RowEvent, RowEventKind};

use crate::export::order::SpecErrors;
use crate::export::private;
use crate::room::Room;

/// Positions that are read at a time.
const PAGE: i32 = 500;

/// The run of a workflow that is named. `None`: the project has no such run, or it is one of conversations.
pub async fn run(pool: &PgPool, project: Uuid, rows: &RunRows) -> anyhow::Result<Option<Run>> {
    let Ok(id) = rows.id.parse() else { return Ok(None) };
    let found = runs::get(&mut *pool.acquire().await?, id).await?;
    Ok(found.filter(|run| run.project == project && runs::plays_rows(&run.kind)))
}

/// # Errors
/// Options that say something of conversations.
pub fn check(rows: &RunRows) -> Result<(), SpecErrors> {
    let RunRows { id: _, judging, corrected, all, branches } = rows;
    let options = [("judging", judging.is_some()), ("corrected", *corrected), ("all", *all), ("branches", *branches)];
    let given = options.into_iter().filter(|(_, is_given)| *is_given).map(|(option, _)| {
        let message = format!("`{option}` is an option for conversations, and the run is one of a workflow");
        (format!("/source/run/{option}"), message)
    });
    let wrong: SpecErrors = given.collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Writes the outputs of the rows that were accepted so far, one a line, in the order of their positions. Returns the names of
/// all of their fields.
///
/// # Errors
/// No row has an output, the database, or no room.
pub async fn write(pool: &PgPool, run: &Run, to: &Path, room: &Room) -> anyhow::Result<Vec<String>> {
    let claimed = runs::claimed(&mut *pool.acquire().await?, run.id).await?;
    let mut file = File::from_std(private::file(to)?);
    let (mut fields, mut bytes, mut first) = (Vec::new(), 0, 0);
    while first < claimed {
        let last = claimed.min(first.saturating_add(PAGE)) - 1;
        let ended = tasks::last_events(&mut *pool.acquire().await?, run.id, first..=last).await?;
        let lines = lines(ended, &mut fields)?;
        let more = lines.len() as u64;
        room.check(bytes, more)?;
        file.write_all(&lines).await?;
        bytes += more;
        first = last + 1;
    }
    file.flush().await?;
    ensure!(bytes > 0, "no row of the run has an output so far");
    Ok(fields)
}

/// Adds to `fields` those that are not in it.
fn lines(ended: Vec<(i32, RowEvent)>, fields: &mut Vec<String>) -> serde_json::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for (_, event) in ended {
        let RowEventKind::Ended(outcome) = event.event else { continue };
        let Some(output) = outcome.output else { continue };
        for field in output.keys() {
            if !fields.contains(field) {
                fields.push(field.clone());
            }
        }
        serde_json::to_writer(&mut lines, &output)?;
        lines.push(b'\n');
    }
    Ok(lines)
}
