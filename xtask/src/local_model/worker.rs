//! A worker that serves the model, as a user would start it.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::{LocalModel, NAME};
use crate::groundstate::{Groundstate, RunningProcess, Server};
use crate::process::quiet;

/// The engine starts within seconds; a machine that is busy may be slow.
const PATIENCE: Duration = Duration::from_mins(3);
/// Tokens of one conversation: those of the demo's playbook take half of them, and the model was trained for twice as many.
const CONTEXT: &str = "4096";
/// Requests at once: the agent's and the user's prompts stay in the engine's memory side by side.
const AT_ONCE: &str = "2";

pub struct Worker {
    name: String,
    running: RunningProcess,
}

impl Worker {
    /// When it is listed as a member of the pool that is ready.
    pub fn start(groundstate: &Groundstate, server: &Server, model: &LocalModel) -> Result<Self> {
        let said = quiet(groundstate.command().args(["workers", "token", "local model", "--expires-in", "1d"]))?;
        let token = said.split_whitespace().find(|word| word.starts_with("gsj_")).context("no token was printed")?;
        let name = format!("local-{}", std::process::id());
        let mut command = Command::new(&groundstate.program);
        command.args(["worker", "--server", &server.url, "--name", &name, "--model", NAME, "--engine", "llama-server"]);
        command.arg("--program").arg(&model.engine).arg("--weights").arg(&model.weights);
        command.args(["--context-length", CONTEXT, "--max-in-flight", AT_ONCE]);
        command.args(["--", "--threads", &threads()]);
        let running = RunningProcess::start(command.env("GROUNDSTATE_JOIN_TOKEN", token))?;
        let mut worker = Self { name, running };
        worker.wait_until_ready(groundstate)?;
        Ok(worker)
    }

    fn wait_until_ready(&mut self, groundstate: &Groundstate) -> Result<()> {
        let begun = Instant::now();
        while self.listed(groundstate)?.is_none_or(|line| !line.contains(" ready ")) {
            self.running.check().context("the worker did not stay")?;
            ensure!(begun.elapsed() < PATIENCE, "the worker was not ready after {} s", PATIENCE.as_secs());
            thread::sleep(Duration::from_secs(1));
        }
        Ok(())
    }

    /// Its line in `groundstate workers list`.
    fn listed(&self, groundstate: &Groundstate) -> Result<Option<String>> {
        let list = quiet(groundstate.command().args(["workers", "list"]))?;
        let ours = |line: &&str| line.split_whitespace().nth(1) == Some(&*self.name);
        Ok(list.lines().find(ours).map(str::to_owned))
    }

    /// By SIGTERM: it ends what it has begun, and is no member any more.
    pub fn leave(self, groundstate: &Groundstate) -> Result<()> {
        let Self { name, running } = self;
        running.end().context("the worker did not leave")?;
        let list = quiet(groundstate.command().args(["workers", "list"]))?;
        ensure!(!list.contains(&name), "the worker left, and is still listed:\n{list}");
        Ok(())
    }
}

/// One core is left to the rest of us: the engine's threads wait for each other, and while one of them has to share its
/// core with others, all of them stand still. On two busy cores one thread wrote 21 tokens a second, two wrote 1.
pub fn threads() -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    cores.saturating_sub(1).max(1).to_string()
}
