//! The cases. Each prints what it measured as rows of a table.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use domain::api::{RunState, RunSummary};
use llm::http_client;
use serde_json::Value;
use sqlx::PgPool;
use store::clock;
use store::runs::{self, Run};
use store::{ledger, measure};
use tokio::process::Child;
use tokio::time::sleep;

use super::machine;
use super::program::{Database, Place};

pub fn row(what: &str, measured: &str) {
    println!("| {what} | {measured} |");
}

pub async fn summary(db: &PgPool, run: &Run) -> anyhow::Result<RunSummary> {
    Ok(store::patiently(|| async { runs::summary(&mut *db.acquire().await?, run).await }).await?)
}

/// Waits until the run has ended, or stops with an error when a player does.
pub async fn ended(db: &PgPool, run: &Run, players: &mut [Child]) -> anyhow::Result<RunSummary> {
    loop {
        let now = summary(db, run).await?;
        if now.state == RunState::Finished {
            return Ok(now);
        }
        if now.state != RunState::Running {
            bail!("the run is {}: {}", now.state, now.paused_because.unwrap_or_default());
        }
        for player in players.iter_mut() {
            if let Some(status) = player.try_wait()? {
                bail!("a player ended: {status}");
            }
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// Conversations a second, from when the first was claimed.
#[expect(clippy::cast_precision_loss, reason = "a rate")]
pub fn rate(summary: &RunSummary) -> anyhow::Result<f64> {
    let (start, end) = summary.started_at.zip(summary.finished_at).context("it has not ended")?;
    Ok(summary.finished as f64 / (end - start).as_seconds_f64())
}

/// The ledger of the run: what the tests check, at this size.
pub async fn check(db: &Database, run: &Run) -> anyhow::Result<()> {
    let broken = ledger::broken(&mut *db.pool.acquire().await?, run.id).await?;
    row("rules of the ledger that are broken", &broken.len().to_string());
    if !broken.is_empty() {
        bail!("the ledger is broken: {broken:?}");
    }
    Ok(())
}

/// What one run took.
struct Measured {
    done: RunSummary,
    /// Conversations a second.
    rate: f64,
    messages: f64,
    /// CPU seconds of the whole machine and of our process.
    busy: f64,
    own: f64,
    memory: u64,
    bytes: i64,
}

/// Plays a run with one player, from when it is claimed to its end.
#[expect(clippy::cast_precision_loss, reason = "means")]
async fn measured(place: &Place, db: &Database, n: u32, concurrency: u32) -> anyhow::Result<Measured> {
    let run = place.run(db, n, &[]).await?;
    let before = measure::size(&mut *db.pool.acquire().await?).await?;
    let busy = machine::busy();
    let mut players = [place.play(db, concurrency, &[])?];
    let pid = players[0].id().context("no process")?;
    let done = ended(&db.pool, &run, &mut players).await?;
    let (busy, own) = (machine::busy() - busy, machine::cpu(pid));
    let memory = machine::peak_memory(pid);
    players[0].kill().await?;
    let messages = measure::messages(&mut *db.pool.acquire().await?, run.id).await? as f64 / f64::from(n);
    let bytes = measure::size(&mut *db.pool.acquire().await?).await? - before;
    check(db, &run).await?;
    Ok(Measured { rate: rate(&done)?, done, messages, busy, own, memory, bytes })
}

fn micros(seconds: f64, n: u32) -> String {
    format!("{:.0} us", seconds * 1e6 / f64::from(n))
}

#[expect(clippy::cast_precision_loss, reason = "means")]
pub async fn durable(place: &Place, n: u32, concurrency: u32) -> anyhow::Result<()> {
    let db = place.database().await?;
    // The first run warms PostgreSQL's files; it is not measured.
    measured(place, &db, n / 10 + 1, concurrency).await?;
    let Measured { done, rate, messages, busy, own, memory, bytes } = measured(place, &db, n, concurrency).await?;
    row("conversations", &format!("{n}, {} accepted", done.accepted));
    row("conversations a second", &format!("{rate:.0}"));
    row("messages a second", &format!("{:.0} ({messages:.1} a conversation)", rate * messages));
    row("CPU a conversation, the whole machine", &format!("{} of {} cores", micros(busy, n), machine::cores()));
    row("CPU a conversation, our process", &micros(own, n));
    row("database a conversation", &format!("{:.1} KB", bytes as f64 / f64::from(n) / 1000.0));
    row("most memory of our process", &format!("{} MB", memory / 1_000_000));
    db.stop().await;
    Ok(())
}

/// The same run in a small database and in a large one.
pub async fn rows(place: &Place, n: u32, copies: i32, concurrency: u32) -> anyhow::Result<()> {
    let db = place.database().await?;
    measured(place, &db, n / 10 + 1, concurrency).await?;
    let first = place.run(&db, n, &[]).await?;
    let mut players = [place.play(&db, concurrency, &[])?];
    ended(&db.pool, &first, &mut players).await?;
    players[0].kill().await?;
    let mut costs = Vec::new();
    for copies in [0, copies] {
        let begun = Instant::now();
        for copy in 1..=copies {
            measure::copy_run(&mut *db.pool.acquire().await?, first.id, clock::id(), copy).await?;
        }
        measure::settle(&mut *db.pool.acquire().await?).await?;
        let all = measure::conversations(&mut *db.pool.acquire().await?).await?;
        let gigabytes = measure::size(&mut *db.pool.acquire().await?).await? / 1_000_000;
        row(
            "conversations in the database",
            &format!("{all}, {gigabytes} MB, made in {:.0} s", begun.elapsed().as_secs_f64()),
        );
        let Measured { rate, busy, own, .. } = measured(place, &db, n, concurrency).await?;
        row(
            &format!("{n} more"),
            &format!("{rate:.0} a second; CPU of the machine {}, ours {}", micros(busy, n), micros(own, n)),
        );
        costs.push(busy);
    }
    row(
        "CPU a conversation in the large one, of that in the small one",
        &format!("{:.0} %", 100.0 * costs[1] / costs[0]),
    );
    db.stop().await;
    Ok(())
}

/// What the model says: requests, requests in flight, and the sum of these over time.
pub async fn stats(url: &str) -> anyhow::Result<(f64, f64, f64)> {
    let stats: Value = http_client().build()?.get(format!("{url}/stats")).send().await?.json().await?;
    let number = |key: &str| stats[key].as_f64().context("no figure");
    Ok((number("requests")?, number("in_flight")?, number("in_flight_seconds")?))
}

/// The number of replies from the agent's model that were counted as used.
#[expect(clippy::cast_precision_loss, reason = "counts")]
pub fn calls(done: &RunSummary) -> f64 {
    done.usage.iter().filter(|usage| usage.role == "agent").map(|usage| usage.calls as f64).sum()
}

pub async fn latency(place: &Place, n: u32, concurrency: u32, median_ms: f64) -> anyhow::Result<()> {
    let db = place.database().await?;
    let (_model, url) = place.model(&["--median-ms", &median_ms.to_string()]).await?;
    place.name_model(&url, concurrency)?;
    let run = place.run(&db, n, &["--agent", "mock"]).await?;
    let mut players = [place.play(&db, concurrency, &[])?];
    let pid = players[0].id().context("no process")?;
    // Measured while there is work for all: from when nearly all conversations wait for the model, until none is left to
    // begin.
    let full = f64::from(concurrency) * 0.98;
    let begun = Instant::now();
    while stats(&url).await?.1 < full {
        if begun.elapsed() > Duration::from_mins(2) {
            row("at most in flight", &format!("{:.0}", stats(&url).await?.1));
            bail!("the model was never full");
        }
        sleep(Duration::from_millis(100)).await;
    }
    let ramp = begun.elapsed().as_secs_f64();
    let (start, cpu, busy) = (Instant::now(), machine::cpu(pid), machine::busy());
    let (requests, _, area) = stats(&url).await?;
    while measure::left_to_begin(&mut *db.pool.acquire().await?, run.id).await? > 0 {
        sleep(Duration::from_millis(200)).await;
    }
    let seconds = start.elapsed().as_secs_f64();
    let (requests, area) = {
        let now = stats(&url).await?;
        (now.0 - requests, now.2 - area)
    };
    let (cpu, busy) = (machine::cpu(pid) - cpu, machine::busy() - busy);
    row("conversations at once", &format!("{concurrency}, all waiting after {ramp:.1} s"));
    row("measured for", &format!("{seconds:.1} s, {requests:.0} calls, {:.0} a second", requests / seconds));
    row("endpoint idle, of the ideal", &format!("{:.2} %", 100.0 * (1.0 - area / (f64::from(concurrency) * seconds))));
    row("CPU a call, our process", &format!("{:.0} us", cpu * 1e6 / requests));
    row("CPU a call, the whole machine, the model's process among it", &format!("{:.0} us", busy * 1e6 / requests));
    ended(&db.pool, &run, &mut players).await?;
    row("most memory of our process", &format!("{} MB", machine::peak_memory(pid) / 1_000_000));
    check(&db, &run).await?;
    db.stop().await;
    Ok(())
}

pub async fn errors(place: &Place, n: u32) -> anyhow::Result<()> {
    let db = place.database().await?;
    let (_model, url) = place.model(&["--median-ms", "20", "--errors", "0.3"]).await?;
    place.name_model(&url, 256)?;
    let run = place.run(&db, n, &["--agent", "mock"]).await?;
    let mut players = [place.play(&db, 256, &["--first-byte-timeout", "2"])?];
    let done = ended(&db.pool, &run, &mut players).await?;
    let agent = done.usage.iter().find(|usage| usage.role == "agent").context("no usage")?;
    row(
        &format!("{n} conversations, 30 % errors"),
        &format!("{} ended, {} accepted, failures {:?}", done.finished, done.accepted, done.failures),
    );
    row("model calls and their retries", &format!("{} and {}", agent.calls, agent.retries));
    check(&db, &run).await?;
    db.stop().await;
    Ok(())
}
