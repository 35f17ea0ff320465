//! `groundstate worker`, as a process, with an engine that is another one.

mod dry_run;
mod engines;
mod life;
mod pool;
mod refused;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use domain::api::workers::{WorkerBeat, WorkerState};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use self::pool::{Pool, TOKEN};

/// Nothing takes nearly so long; a machine that is busy with other tests may be slow.
const BOUND: Duration = Duration::from_secs(90);
/// Waits that a person would not mind are too long for a test.
pub const QUICK: &str = "--probe-every 0.1 --answer-every 0.1 --answer-timeout 1 --patience 1 --first-wait 0.1";

/// A worker, what its engine does, and what it has said.
struct Worker {
    pool: Pool,
    folder: TempDir,
    child: Option<Child>,
}

impl Worker {
    /// A folder and a pool; nothing is started yet.
    async fn prepared() -> Self {
        Self { pool: Pool::start().await, folder: tempfile::tempdir().unwrap(), child: None }
    }

    /// One that serves `small`, when it is ready.
    async fn ready() -> Self {
        let mut worker = Self::prepared().await;
        worker.start("");
        worker.until_state(WorkerState::Ready).await;
        worker
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = super::groundstate(["worker", "--server", &self.pool.url()]);
        command.args(QUICK.split(' ')).args(arguments.split_whitespace());
        command.env("GROUNDSTATE_JOIN_TOKEN", TOKEN).env("FAKE_ENGINE", self.folder.path());
        command
    }

    fn start(&mut self, arguments: &str) {
        let mut command = self.command("--model small --engine vllm --name w1 --program");
        self.spawn(command.arg(engine()).args(arguments.split_whitespace()));
    }

    fn spawn(&mut self, command: &mut Command) {
        let log = File::create(self.path("log")).unwrap();
        command.stdout(log.try_clone().unwrap()).stderr(log);
        self.child = Some(command.spawn().unwrap());
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap_or_default()
    }

    /// What it has printed.
    fn log(&self) -> String {
        self.read("log")
    }

    /// How the engine behaves from now on.
    fn engine_is(&self, file: &str, text: &str) {
        // Read while it is written, it would be empty.
        let draft = self.path("draft");
        fs::write(&draft, text).unwrap();
        fs::rename(draft, self.path(file)).unwrap();
    }

    /// The processes that its engine was, one after the other.
    fn engines(&self) -> Vec<Pid> {
        self.read("starts").lines().map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap()).collect()
    }

    fn signal(&self, signal: Signal) {
        let pid = self.child.as_ref().unwrap().id().unwrap();
        kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
    }

    async fn until<T>(&self, what: &str, mut see: impl FnMut(&Self) -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(seen) = see(self) {
                return seen;
            }
            let last = self.pool.heard().beats.last().cloned();
            assert!(begun.elapsed() < BOUND, "{what} never came; last {last:?}\n{}", self.log());
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// The first heartbeat of this state from now on, and those before it are forgotten.
    async fn until_state(&self, state: WorkerState) -> WorkerBeat {
        self.until_beat(&format!("{state:?}"), |beat| beat.state == state).await
    }

    async fn until_beat(&self, what: &str, is_it: impl Fn(&WorkerBeat) -> bool) -> WorkerBeat {
        self.until(what, |worker| {
            let mut heard = worker.pool.heard();
            let found = heard.beats.iter().position(|(_, beat)| is_it(beat))?;
            heard.beats.drain(..=found).next_back().map(|(_, beat)| beat)
        })
        .await
    }

    /// Its exit code, when it has ended by itself.
    async fn ended(&mut self) -> Option<i32> {
        let child = self.child.as_mut().unwrap();
        let status = timeout(BOUND, child.wait()).await;
        let status = status.unwrap_or_else(|_| panic!("it does not end: {}", self.log()));
        status.unwrap().code()
    }
}

pub fn engine() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cli/worker/engine.py")
}

/// An orphan that has ended stays a zombie until init looks after it.
pub fn gone(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.map_or(true, |stat| stat.contains(") Z "))
}
