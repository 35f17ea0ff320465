//! Episodes over HTTP: `groundstate serve` with its player, and agents that answer at once.

use anyhow::{Context, ensure};
use bench::EpisodeLoad;
use serde_json::json;
use store::{control, ledger, measure, runs};

use super::api::Caller;
use super::cases::row;
use super::machine;
use super::program::{Database, Place};

const PROJECT: &str = "/api/v1/projects/default";
/// The name of the environment.
const ENVIRONMENT: &str = "bench";
/// More than are made.
const MOST_RUNS: i64 = 100;

#[derive(clap::Args, Clone)]
pub struct Flags {
    /// Episodes of each protocol
    #[arg(long, default_value_t = 4_000)]
    n: u32,
    /// Episodes that are open at once
    #[arg(long, default_value_t = 64)]
    concurrency: u32,
}

pub async fn case(place: &Place, flags: &Flags) -> anyhow::Result<()> {
    let db = place.database().await?;
    let (mut server, url) = place.serve(&db, &[]).await?;
    let pid = server.id().context("no process")?;
    let admin = Caller::administrator(&db.pool, url).await?;
    place.done(&db.url, &["sync", "--push", "--to", "default"]).await?;
    environment(&admin).await?;
    for (protocol, what) in [("rest", "REST"), ("open-env", "OpenEnv")] {
        // Unmeasured: PostgreSQL's files, connections and caches.
        load(place, &admin, protocol, (flags.n / 10 + 1, flags.concurrency)).await?;
        measured(place, &db, &admin, (protocol, what), pid, flags).await?;
    }
    row("most memory of the server", &format!("{} MB", machine::peak_memory(pid) / 1_000_000));
    let players = machine::children(pid).into_iter().filter(|(_, line)| line.contains(" play "));
    let player = players.map(|(pid, _)| machine::peak_memory(pid)).max().unwrap_or_default();
    row("most memory of the player", &format!("{} MB", player / 1_000_000));
    check(&db).await?;
    ensure!(server.try_wait()?.is_none(), "the server ended");
    server.kill().await?;
    db.stop().await;
    Ok(())
}

/// Stores the environment that [`load`] plays in.
pub async fn environment(admin: &Caller) -> anyhow::Result<()> {
    // The script is all that the agent says, so the user must not leave out what it depends on.
    let environment = json!({"playbooks": ["desk"], "complexity": {"medium": 1}});
    admin.put(&format!("{PROJECT}/environments/{ENVIRONMENT}"), &environment).await
}

/// Plays episodes, and says what that took.
#[expect(clippy::cast_precision_loss, reason = "means")]
async fn measured(
    place: &Place,
    db: &Database,
    admin: &Caller,
    (protocol, what): (&str, &str),
    server: u32,
    flags: &Flags,
) -> anyhow::Result<()> {
    let postgres = db.postmaster()?;
    let size = measure::size(&mut *db.pool.acquire().await?).await?;
    let spent = || (machine::busy(), machine::cpu_of_tree(server), machine::cpu_of_tree(postgres));
    let before = spent();
    let load = load(place, admin, protocol, (flags.n, flags.concurrency)).await?;
    let after = spent();
    let grown = measure::size(&mut *db.pool.acquire().await?).await? - size;
    let n = load.episodes as f64;
    let of_one = |seconds: f64| format!("{:.2} ms", seconds * 1e3 / n);
    row(
        &format!("episodes a second over {what}, {} at once", flags.concurrency),
        &format!("{:.0} ({} in {:.1} s)", n / load.seconds, load.episodes, load.seconds),
    );
    row("messages of agents a second", &format!("{:.0}", load.messages as f64 / load.seconds));
    let [median, p99] = [load.median_seconds, load.p99_seconds].map(|seconds| format!("{:.1} ms", seconds * 1e3));
    row("a message waits, median and p99", &format!("{median}, {p99}"));
    row("CPU an episode, server and player", &of_one(after.1 - before.1));
    row("CPU an episode, PostgreSQL", &of_one(after.2 - before.2));
    row("CPU an episode, agents", &of_one(load.cpu_seconds));
    row("CPU an episode, the whole machine", &of_one(after.0 - before.0));
    row("database an episode", &format!("{:.1} KB", grown as f64 / n / 1e3));
    Ok(())
}

/// Agents that answer at once, in a process of their own.
pub async fn load(
    place: &Place,
    admin: &Caller,
    protocol: &str,
    (n, concurrency): (u32, u32),
) -> anyhow::Result<EpisodeLoad> {
    let url = match protocol {
        "rest" => admin.url.clone(),
        _ => format!("{}/openenv/default/{ENVIRONMENT}", admin.url),
    };
    let mut command = place.command("episode_load");
    command.args(["--protocol", protocol, "--url", &url, "--environment", ENVIRONMENT]);
    command.args(["--n", &n.to_string(), "--concurrency", &concurrency.to_string()]);
    let output = command.env("GROUNDSTATE_TOKEN", &admin.token).output().await?;
    ensure!(output.status.success(), "episode_load: {}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The ledger of the runs that hold the episodes. They have no end of their own, so they are closed first.
async fn check(db: &Database) -> anyhow::Result<()> {
    let mut broken = 0;
    for run in runs::list(&mut *db.pool.acquire().await?, MOST_RUNS).await? {
        control::cancel(&mut *db.pool.acquire().await?, run).await?;
        let found = ledger::broken(&mut *db.pool.acquire().await?, run).await?;
        ensure!(found.is_empty(), "the ledger is broken: {found:?}");
        broken += found.len();
    }
    row("rules of the ledger that are broken", &broken.to_string());
    Ok(())
}
