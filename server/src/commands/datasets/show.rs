//! What is in a dataset: `show`, `rows` and `sample`.

use std::io::Write as _;

use anyhow::Context as _;
use datasets::dataset::{OpenDataset, Row, sample};
use domain::dataset::{Column, ColumnStatistics, NumberStatistics};
use domain::storage::readable_bytes;
use sqlx::PgPool;
use store::datasets::Dataset;

use super::super::connection::ConnectionArgs;
use super::{DatasetObjects, named};
use crate::output::say;
use domain::bad_input::BadInput;

/// Rows that are read at once.
const PAGE: u64 = 1_000;
/// Values of a column that are shown with their counts.
const VALUES: usize = 5;

#[derive(clap::Args)]
pub struct Rows {
    /// Position of the first row, from 0
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// How many rows
    #[arg(long, default_value_t = 10)]
    n: u64,
    #[command(flatten)]
    dataset: DatasetObjects,
}

#[derive(clap::Args)]
pub struct Sample {
    /// How many rows
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    n: u32,
    /// The same seed draws the same rows
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    dataset: DatasetObjects,
}

impl Rows {
    pub fn connection(&self) -> &ConnectionArgs {
        &self.dataset.connection
    }
}

impl Sample {
    pub fn connection(&self) -> &ConnectionArgs {
        &self.dataset.connection
    }
}

pub fn show(dataset: &Dataset) {
    let summary = &dataset.summary;
    say!("dataset  {}@{} ({})", summary.name, summary.version, summary.id);
    let because = summary.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    say!("state    {}{because}", summary.state);
    let Some(contents) = &dataset.contents else { return };
    say!("rows     {}", contents.rows);
    say!("size     {}, files: {}", readable_bytes(contents.bytes), contents.parts.len());
    say!("sha256   {}", contents.hash);
    for column in &contents.columns {
        say!("");
        describe(column, contents.rows);
    }
}

fn describe(column: &Column, rows: i64) {
    let ColumnStatistics { nulls, distinct, distinct_at_least, values, numbers, lengths } = &column.statistics;
    let at_least = if *distinct_at_least { "at least " } else { "" };
    say!("{} ({})", column.name, column.kind);
    say!("  {} values, {at_least}{distinct} different, {nulls} null", rows.unsigned_abs() - nulls);
    if let Some(NumberStatistics { min, max, mean, .. }) = numbers {
        say!("  from {min} to {max}, mean {mean:.4}");
    }
    if let Some(NumberStatistics { min, max, mean, .. }) = lengths {
        say!("  lengths from {min} to {max}, mean {mean:.1}");
    }
    for value in values.iter().take(VALUES).filter(|value| value.count > 1) {
        say!("  {:>10}  {}", value.count, value.value);
    }
}

pub async fn rows(pool: &PgPool, args: &Rows) -> anyhow::Result<()> {
    let open = open(pool, &args.dataset).await?;
    let end = args.from.saturating_add(args.n).min(open.len());
    let mut next = args.from;
    while next < end {
        let to = end.min(next + PAGE);
        for row in open.rows(next..to).await? {
            if !print(&row)? {
                return Ok(());
            }
        }
        next = to;
    }
    Ok(())
}

pub async fn sample(pool: &PgPool, args: &Sample) -> anyhow::Result<()> {
    let open = open(pool, &args.dataset).await?;
    for position in sample::positions(open.len(), args.n as usize, args.seed) {
        if !print(&open.row(position).await?)? {
            return Ok(());
        }
    }
    Ok(())
}

async fn open(pool: &PgPool, args: &DatasetObjects) -> anyhow::Result<OpenDataset> {
    let dataset = named(pool, &args.dataset).await?;
    let state = dataset.summary.state;
    let open = OpenDataset::of(args.storage.objects(&args.connection)?, dataset);
    open.ok_or_else(|| BadInput::one("DATASET", format!("it is {state}, so it has no rows")).into())
}

/// False if nobody reads any more.
fn print(row: &Row) -> anyhow::Result<bool> {
    let line = serde_json::to_string(row).context("a row cannot be written")?;
    Ok(writeln!(std::io::stdout(), "{line}").is_ok())
}
