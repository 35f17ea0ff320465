//! Rows of a dataset of which most end at the first step, played by stand-ins; and a run over very many rows that is only stored.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use serde_json::json;
use store::measure;
use store::runs::{self, Run};
use uuid::Uuid;

use super::cases::{check, ended, rate, row};
use super::machine;
use super::program::{Database, Place};

/// The workflow that is played, of those that are shipped.
const WORKFLOW: &str = "natural_reasoning";
/// Of a hundred rows so many pass the first step.
const PASSING: u64 = 6;
const STORAGE: [&str; 4] = ["--objects", "objects", "--files", "files"];

#[derive(clap::Args, Clone)]
pub struct Flags {
    /// Rows that are played
    #[arg(long, default_value_t = 1_000_000)]
    n: u64,
    /// Rows of the run that is only stored
    #[arg(long, default_value_t = 25_000_000)]
    stored: u64,
    #[arg(long, default_value_t = 512)]
    concurrency: u32,
}

#[expect(clippy::cast_precision_loss, reason = "means")]
pub async fn case(place: &Place, flags: &Flags) -> anyhow::Result<()> {
    let db = place.database().await?;
    dataset(place, &db, "pages", flags.n).await?;
    let run = order(place, &db, "pages").await?;
    let before = measure::size(&mut *db.pool.acquire().await?).await?;
    let busy = machine::busy();
    let mut players = [place.play(&db, flags.concurrency, &STORAGE)?];
    let pid = players[0].id().context("no process")?;
    let done = ended(&db.pool, &run, &mut players).await?;
    let (busy, own, memory) = (machine::busy() - busy, machine::cpu(pid), machine::peak_memory(pid));
    players[0].kill().await?;
    check(&db, &run).await?;
    let micros = |seconds: f64| format!("{:.0} us", seconds * 1e6 / flags.n as f64);
    let grown = measure::size(&mut *db.pool.acquire().await?).await? - before;
    row("rows", &format!("{}, {} accepted", done.finished, done.accepted));
    row("rows a second", &format!("{:.0}", rate(&done)?));
    row("CPU a row, the whole machine", &format!("{} of {} cores", micros(busy), machine::cores()));
    row("CPU a row, our process", &micros(own));
    row("database a row", &format!("{:.0} bytes", grown as f64 / flags.n as f64));
    row("most memory of our process", &format!("{} MB", memory / 1_000_000));
    if flags.stored > 0 {
        dataset(place, &db, "many", flags.stored).await?;
        order(place, &db, "many").await?;
    }
    db.stop().await;
    Ok(())
}

/// Makes a dataset of so many pages, and says how long that took.
#[expect(clippy::cast_precision_loss, reason = "a rate")]
async fn dataset(place: &Place, db: &Database, name: &str, rows: u64) -> anyhow::Result<()> {
    let file = format!("{name}.jsonl");
    write(&place.path().join(&file), rows)?;
    let begun = Instant::now();
    place.done(&db.url, &[&["datasets", "add", name, &file], &STORAGE[..]].concat()).await?;
    let took = begun.elapsed().as_secs_f64();
    row(&format!("a dataset of {rows} rows"), &format!("{took:.1} s, {:.0} rows a second", rows as f64 / took));
    std::fs::remove_file(place.path().join(&file))?;
    Ok(())
}

/// Pages with the columns of the workflow; nearly all are of another language.
fn write(path: &Path, rows: u64) -> anyhow::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for i in 0..rows {
        let passes = i % 100 < PASSING;
        let title = if passes { "Falling stones" } else { "Opening hours" };
        let english = if passes { 0.97 } else { 0.2 };
        let page = json!({"text": format!("{title}. Page {i} of a made-up web."), "language_id_whole_page_fasttext": {"en": english}});
        writeln!(file, "{page}")?;
    }
    Ok(file.flush()?)
}

/// Stores a run over all rows of a dataset, and says how long that took.
async fn order(place: &Place, db: &Database, dataset: &str) -> anyhow::Result<Run> {
    let begun = Instant::now();
    let arguments = [&["workflow", "run", WORKFLOW, "--dataset", dataset, "--detach"], &STORAGE[..]].concat();
    let said = place.done(&db.url, &arguments).await?;
    let took = begun.elapsed().as_secs_f64();
    let id: Uuid = said.split_whitespace().find_map(|word| word.parse().ok()).context("no run id")?;
    let run = runs::get(&mut *db.pool.acquire().await?, id).await?.context("the run is not there")?;
    let left = measure::left_to_begin(&mut *db.pool.acquire().await?, run.id).await?;
    row(&format!("a run over {} rows, stored", run.planned), &format!("{took:.2} s, {left} wait"));
    Ok(run)
}
