//! Players that are processes of their own, so that they can be killed: this test program, started again.

use std::env;
use std::process::Stdio;
use std::time::Duration;

use runtime::Options;
use rustix::process::{Pid, Signal, kill_process};
use sqlx::{ConnectOptions, PgPool};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::kind::FanOutPlayer;
use super::play::{clients, options};

const DATABASE: &str = "FAN_OUT_DATABASE";
const RUN: &str = "FAN_OUT_RUN";
/// The test that such a process runs.
const PLAYS: &str = "support::process::plays";

/// Tasks that each process plays at once.
pub const CONCURRENCY: usize = 4;
/// Short, so that others take over soon.
const LEASE: Duration = Duration::from_secs(2);

/// A process that plays a run.
pub fn play(pool: &PgPool, run: Uuid) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", PLAYS, "--nocapture"]);
    command.env(DATABASE, pool.connect_options().to_url_lossy().to_string()).env(RUN, run.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true).spawn().unwrap()
}

/// Ends a process as `kill -9` does, and waits until it is gone.
pub async fn kill(mut child: Child) {
    child.kill().await.unwrap();
}

pub fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().unwrap().cast_signed()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Only what [`play`] starts has anything to do here.
#[tokio::test]
async fn plays() {
    let (Ok(url), Ok(run)) = (env::var(DATABASE), env::var(RUN)) else { return };
    let pool = store::open(&url).await.unwrap();
    let options = Options { lease: LEASE, ..options(run.parse().unwrap(), CONCURRENCY) };
    let player = FanOutPlayer::new(pool, clients(), options);
    player.play(&CancellationToken::new()).await.unwrap();
}
