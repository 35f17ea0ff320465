//! Rows of datasets through workflows, played by stand-ins: one that most rows leave at its first step, and talks of partners
//! who answer at once; and a run over very many rows that is only stored.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use serde_json::{Value, json};
use store::measure;
use store::runs::{self, Run};
use uuid::Uuid;

use super::cases::{check, ended, rate, row};
use super::machine;
use super::program::{Database, Place};

/// Of a hundred rows so many pass the first step.
const PASSING: u64 = 6;
/// The workflow that most rows leave at its first step.
pub const FUNNEL: &str = "natural_reasoning";
pub const STORAGE: [&str; 4] = ["--objects", "objects", "--files", "files"];

#[derive(clap::Args, Clone)]
pub struct Funnel {
    /// Rows that are played
    #[arg(long, default_value_t = 1_000_000)]
    n: u64,
    /// Rows of the run that is only stored
    #[arg(long, default_value_t = 25_000_000)]
    stored: u64,
    #[arg(long, default_value_t = 512)]
    concurrency: u32,
}

#[derive(clap::Args, Clone)]
pub struct Talks {
    #[arg(long, default_value_t = 50_000)]
    n: u64,
    #[arg(long, default_value_t = 512)]
    concurrency: u32,
}

/// Nearly all pages are of another language than the workflow keeps.
pub fn web_page(i: u64) -> Value {
    let passes = i % 100 < PASSING;
    let title = if passes { "Falling stones" } else { "Opening hours" };
    let english = if passes { 0.97 } else { 0.2 };
    json!({"text": format!("{title}. Page {i} of a made-up web."), "language_id_whole_page_fasttext": {"en": english}})
}

fn question(i: u64) -> Value {
    let options: Vec<u64> = (0..10).map(|option| i + option).collect();
    let options: Vec<String> = options.iter().map(ToString::to_string).collect();
    json!({"question": format!("What is {i} + 3, if each of both is a whole number?"), "options": options})
}

pub async fn funnel(place: &Place, flags: &Funnel) -> anyhow::Result<()> {
    let db = place.database().await?;
    dataset(place, &db, "pages", flags.n, web_page).await?;
    let run = order(place, &db, FUNNEL, "pages").await?;
    play(place, &db, &run, flags.n, flags.concurrency).await?;
    if flags.stored > 0 {
        dataset(place, &db, "many", flags.stored, web_page).await?;
        order(place, &db, FUNNEL, "many").await?;
    }
    db.stop().await;
    Ok(())
}

pub async fn talks(place: &Place, flags: &Talks) -> anyhow::Result<()> {
    let db = place.database().await?;
    dataset(place, &db, "questions", flags.n, question).await?;
    let run = order(place, &db, "talks", "questions").await?;
    let a_second = play(place, &db, &run, flags.n, flags.concurrency).await?;
    let summary = rows::summary::of(&db.pool, &run).await?;
    let messages = summary.metrics.first().and_then(|metric| metric.all.mean).context("no row has messages")?;
    row("messages a row", &format!("{messages:.1}"));
    row("messages a second", &format!("{:.0}", messages * a_second));
    db.stop().await;
    Ok(())
}

/// Plays a run to its end, says what that took, and returns how many rows a second there were.
#[expect(clippy::cast_precision_loss, reason = "means")]
async fn play(place: &Place, db: &Database, run: &Run, n: u64, concurrency: u32) -> anyhow::Result<f64> {
    let before = measure::size(&mut *db.pool.acquire().await?).await?;
    let busy = machine::busy();
    let mut players = [place.play(db, concurrency, &STORAGE)?];
    let pid = players[0].id().context("no process")?;
    let done = ended(&db.pool, run, &mut players).await?;
    let (busy, own, memory) = (machine::busy() - busy, machine::cpu(pid), machine::peak_memory(pid));
    players[0].kill().await?;
    check(db, run).await?;
    let micros = |seconds: f64| format!("{:.0} us", seconds * 1e6 / n as f64);
    let grown = measure::size(&mut *db.pool.acquire().await?).await? - before;
    let a_second = rate(&done)?;
    row("rows", &format!("{}, {} accepted", done.finished, done.accepted));
    row("rows a second", &format!("{a_second:.0}"));
    row("CPU a row, the whole machine", &format!("{} of {} cores", micros(busy), machine::cores()));
    row("CPU a row, our process", &micros(own));
    row("database a row", &format!("{:.0} bytes", grown as f64 / n as f64));
    row("most memory of our process", &format!("{} MB", memory / 1_000_000));
    Ok(a_second)
}

/// Makes a dataset of so many rows, and says how long that took.
#[expect(clippy::cast_precision_loss, reason = "a rate")]
pub async fn dataset(
    place: &Place,
    db: &Database,
    name: &str,
    rows: u64,
    made: fn(u64) -> Value,
) -> anyhow::Result<()> {
    let file = format!("{name}.jsonl");
    write(&place.path().join(&file), (0..rows).map(made))?;
    let begun = Instant::now();
    place.done(&db.url, &[&["datasets", "add", name, &file], &STORAGE[..]].concat()).await?;
    let took = begun.elapsed().as_secs_f64();
    row(&format!("a dataset of {rows} rows"), &format!("{took:.1} s, {:.0} rows a second", rows as f64 / took));
    std::fs::remove_file(place.path().join(&file))?;
    Ok(())
}

fn write(path: &Path, rows: impl Iterator<Item = Value>) -> anyhow::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for row in rows {
        writeln!(file, "{row}")?;
    }
    Ok(file.flush()?)
}

/// Stores a run over all rows of a dataset, and says how long that took.
pub async fn order(place: &Place, db: &Database, workflow: &str, dataset: &str) -> anyhow::Result<Run> {
    let begun = Instant::now();
    let arguments = [&["workflow", "run", workflow, "--dataset", dataset, "--detach"], &STORAGE[..]].concat();
    let said = place.done(&db.url, &arguments).await?;
    let took = begun.elapsed().as_secs_f64();
    let id: Uuid = said.split_whitespace().find_map(|word| word.parse().ok()).context("no run id")?;
    let run = runs::get(&mut *db.pool.acquire().await?, id).await?.context("the run is not there")?;
    let left = measure::left_to_begin(&mut *db.pool.acquire().await?, run.id).await?;
    row(&format!("a run over {} rows, stored", run.planned), &format!("{took:.2} s, {left} wait"));
    Ok(run)
}
