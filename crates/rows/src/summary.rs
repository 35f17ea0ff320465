//! Metrics and times over the rows of a run, from the columns that are stored when a row ends. No event is read.

use datasets::dataset::sample;
use domain::api::workflows::RowsSummary;
use domain::timing::TimeBreakdown;
use serde_json::{Map, Value};
use sqlx::PgPool;
use store::runs::{self, Run};
use store::tasks;
use tokio::task::spawn_blocking;

use crate::metrics::Metrics;
use crate::stored;

/// Rows that are looked at: with so many, a share is known within half a percent.
const MOST_ROWS: usize = 50_000;

/// # Errors
/// The database is away, or what is stored is no run of a workflow.
pub async fn of(pool: &PgPool, run: &Run) -> anyhow::Result<RowsSummary> {
    let document = stored::document(pool, run, &stored::spec(run)?.workflow).await?;
    let mut db = pool.acquire().await?;
    let claimed = runs::claimed(&mut db, run.id).await?;
    let positions = sample::positions(claimed.unsigned_abs().into(), MOST_ROWS, run.seed.cast_unsigned());
    let sampled = positions.len() < usize::try_from(claimed)?;
    let positions: Vec<i32> = positions.into_iter().map(i32::try_from).collect::<Result<_, _>>()?;
    let (mut rows, mut metrics, mut seconds) = (0, Metrics::of(&document), Vec::new());
    tasks::each_ended(&mut db, run.id, &positions, |row| {
        rows += 1;
        // What is stored was encoded by `metrics::encode`.
        let values = row.metrics.as_deref().map(serde_json::from_str::<Map<String, Value>>);
        if let Some(Ok(values)) = values {
            metrics.add(row.accepted, &values);
        }
        seconds.extend(row.seconds);
    })
    .await?;
    drop(db);
    let time = spawn_blocking(|| TimeBreakdown::of(seconds)).await?;
    Ok(RowsSummary { rows, sampled, metrics: metrics.summaries(), time })
}
