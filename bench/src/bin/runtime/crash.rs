//! Players and databases that die in the middle of a run.

use std::time::{Duration, Instant};

use domain::api::{RunState, RunSummary};
use store::runs::Run;
use tokio::process::Child;
use tokio::time::sleep;

use super::cases::{calls, check, ended, rate, row, stats, summary};
use super::program::{Database, Place};

const PLAYERS: u32 = 3;
/// Conversations that each of them plays at once.
const EACH: u32 = 128;
const KILLED_EVERY: Duration = Duration::from_secs(2);

/// The same run played twice: by players that live, and by players of which one is killed again and again.
pub async fn players(place: &Place, n: u32) -> anyhow::Result<()> {
    let db = place.database().await?;
    let (_model, url) = place.model(&["--median-ms", "100"]).await?;
    place.name_model(&url, 10_000)?;
    let (living, ..) = played(place, &db, &url, n, None).await?;
    row(&format!("{n} conversations, {PLAYERS} players that live"), &format!("{living:.0} a second"));
    let (dying, killed, again) = played(place, &db, &url, n, Some(KILLED_EVERY)).await?;
    let seconds = KILLED_EVERY.as_secs();
    row(
        &format!("the same, one killed every {seconds} s and another one started ({killed} kills)"),
        &format!("{dying:.0} a second"),
    );
    row("throughput falls by", &format!("{:.1} %", 100.0 * (1.0 - dying / living)));
    row("killed at a time, of the players", &format!("{:.1} %", 100.0 / f64::from(PLAYERS)));
    let a_kill = again / f64::from(killed.max(1));
    row("model calls made again", &format!("{again:.0} ({a_kill:.0} a kill of a player with {EACH} in flight)"));
    db.stop().await;
    Ok(())
}

/// Conversations a second, how many players were killed, and how many calls were made again.
async fn played(
    place: &Place,
    db: &Database,
    model: &str,
    n: u32,
    killed_every: Option<Duration>,
) -> anyhow::Result<(f64, u32, f64)> {
    let run = place.run(db, n, &["--agent", "mock"]).await?;
    let (before, ..) = stats(model).await?;
    let play = || place.play(db, EACH, &["--lease", "2"]);
    let mut players = (0..PLAYERS).map(|_| play()).collect::<anyhow::Result<Vec<Child>>>()?;
    let (done, killed) = until_ended(db, &run, &mut players, killed_every, play).await?;
    let (asked, heard) = (stats(model).await?.0 - before, calls(&done));
    // They play nothing that comes later.
    for player in &mut players {
        player.kill().await?;
    }
    check(db, &run).await?;
    Ok((rate(&done)?, killed, asked - heard))
}

/// Kills the one that has lived longest, again and again, and starts another in its place.
async fn until_ended(
    db: &Database,
    run: &Run,
    players: &mut Vec<Child>,
    killed_every: Option<Duration>,
    play: impl Fn() -> anyhow::Result<Child>,
) -> anyhow::Result<(RunSummary, u32)> {
    let (mut last, mut killed) = (Instant::now(), 0);
    loop {
        let now = summary(&db.pool, run).await?;
        if now.state == RunState::Finished {
            return Ok((now, killed));
        }
        if killed_every.is_some_and(|every| last.elapsed() >= every) {
            last = Instant::now();
            players.remove(0).kill().await?;
            players.push(play()?);
            killed += 1;
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// PostgreSQL goes without a word to anybody, twice, and comes again.
pub async fn database(place: &Place, n: u32) -> anyhow::Result<()> {
    let mut db = place.database().await?;
    let run = place.run(&db, n, &[]).await?;
    let mut players = [place.play(&db, 512, &[])?];
    let mut away = Vec::new();
    for part in [n / 4, n / 2] {
        while summary(&db.pool, &run).await?.finished < i64::from(part) {
            sleep(Duration::from_millis(20)).await;
        }
        let begun = Instant::now();
        place.restart(&mut db).await?;
        away.push(format!("{:.1} s", begun.elapsed().as_secs_f64()));
    }
    let done = ended(&db.pool, &run, &mut players).await?;
    row(
        &format!("{n} conversations, PostgreSQL restarted in immediate mode twice"),
        &format!("{:.0} a second, {} ended", rate(&done)?, done.finished),
    );
    row("it was away for", &away.join(" and "));
    check(&db, &run).await?;
    db.stop().await;
    Ok(())
}
