//! A run of very many conversations, written as files.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use store::measure;
use tokio::process::Child;
use tokio::time::sleep;

use super::cases::{ended, row};
use super::machine;
use super::program::Place;

/// Plays a run, copies its conversations into it until it is as large as is asked, and exports it.
#[expect(clippy::cast_precision_loss, reason = "rates")]
pub async fn case(place: &Place, n: u32, copies: i32) -> anyhow::Result<()> {
    let db = place.database().await?;
    let run = place.run(&db, n, &[]).await?;
    let mut players = [place.play(&db, 512, &[])?];
    ended(&db.pool, &run, &mut players).await?;
    players[0].kill().await?;
    for copy in 1..=copies {
        measure::lengthen(&mut *db.pool.acquire().await?, run.id, i32::try_from(n)?, copy, true).await?;
    }
    measure::settle(&mut *db.pool.acquire().await?).await?;
    let all = measure::conversations(&mut *db.pool.acquire().await?).await?;
    let gigabytes = measure::size(&mut *db.pool.acquire().await?).await? as f64 / 1e9;
    row("conversations", &format!("{all}, {gigabytes:.1} GB of database"));
    for (profile, out) in [
        ("canonical", "rows.jsonl"),
        ("canonical", "rows.jsonl"),
        ("trl", "trl.jsonl"),
        ("json_strings", "rows.parquet"),
        ("huggingface", "bundle.zip"),
        ("trl_dpo", "pairs.jsonl"),
    ] {
        let (begun, busy) = (Instant::now(), machine::busy());
        let (child, file) = place.export(&db, run.id, out, &["--profile", profile])?;
        let memory = watch(child).await?;
        let (seconds, busy) = (begun.elapsed().as_secs_f64(), machine::busy() - busy);
        let bytes = size(&file)?;
        row(
            profile,
            &format!(
                "{:.0} rows a second ({seconds:.1} s), {:.0} MB/s, {:.1} KB a row; CPU of the machine {:.0} us a row; \
                 most memory of our process {} MB",
                all as f64 / seconds,
                bytes as f64 / 1e6 / seconds,
                bytes as f64 / 1e3 / all as f64,
                busy * 1e6 / all as f64,
                memory / 1_000_000
            ),
        );
        fs::remove_file(&file)?;
    }
    db.stop().await;
    Ok(())
}

/// Waits for its end, and says how much memory it had at most.
async fn watch(mut child: Child) -> anyhow::Result<u64> {
    let pid = child.id().context("no process")?;
    let mut most = 0;
    loop {
        // What was read last holds: it grows only, and is gone with the process.
        most = most.max(machine::peak_memory(pid));
        if let Some(status) = child.try_wait()? {
            ensure!(status.success(), "the export ended: {status}");
            return Ok(most);
        }
        sleep(Duration::from_millis(5)).await;
    }
}

fn size(file: &Path) -> anyhow::Result<u64> {
    Ok(fs::metadata(file)?.len())
}
