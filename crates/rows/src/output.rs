//! What the rows of a run became. The last event of a row has its output, so no row is played again to read it.

use std::ops::RangeInclusive;

use domain::api::workflows::OutputRow;
use sqlx::PgPool;
use store::runs::Run;
use store::tasks;
use workflow::{RowEvent, RowEventKind, RowOutcome};

use crate::source::InputRows;
use crate::stored;

/// The rows at these positions that have ended.
///
/// # Errors
/// The database is away, or what is stored is no row of this run.
pub async fn rows(
    pool: &PgPool,
    run: &Run,
    inputs: &InputRows,
    positions: RangeInclusive<i32>,
) -> anyhow::Result<Vec<OutputRow>> {
    let positions = *positions.start()..=(*positions.end()).min(run.planned - 1);
    if positions.is_empty() {
        return Ok(Vec::new());
    }
    let ended = tasks::last_events(&mut *pool.acquire().await?, run.id, positions.clone()).await?;
    let given = inputs.inputs(positions.clone()).await?;
    let stand_ins = stored::spec(run)?.stand_ins();
    let row = |(position, event): (i32, RowEvent)| {
        let RowEventKind::Ended(outcome) = event.event else { return Ok(None) };
        let place = usize::try_from(position - positions.start())?;
        let input = given.get(place).cloned().unwrap_or_default();
        let RowOutcome { name, success, reason, output, metrics } = outcome;
        let stand_ins = stand_ins.clone();
        Ok(Some(OutputRow { position, ended: name, accepted: success, reason, input, output, metrics, stand_ins }))
    };
    ended.into_iter().filter_map(|event| row(event).transpose()).collect()
}
