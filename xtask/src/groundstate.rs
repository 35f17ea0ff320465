//! The program, as a user would start it.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::process::check_interrupted;

/// How long it may take to end what it has begun, once it was asked to.
const PATIENCE: Duration = Duration::from_secs(40);

/// The program and the PostgreSQL that its commands share; without one they share the private one.
pub struct Groundstate {
    pub program: PathBuf,
    pub database: Option<String>,
}

impl Groundstate {
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.envs(self.database.iter().map(|url| ("DATABASE_URL", url)));
        command
    }

    /// `groundstate serve` with these arguments, when it listens.
    pub fn serve(&self, arguments: &[&str]) -> Result<Server> {
        let mut command = self.command();
        Server::start(command.arg("serve").args(arguments))
    }
}

/// A server that ends with us.
pub struct Server {
    pub running: RunningProcess,
    pub url: String,
    /// What it says about signing in, if nobody can yet.
    pub welcome: Option<String>,
}

impl Server {
    fn start(command: &mut Command) -> Result<Self> {
        let mut running = RunningProcess::start(command.stdout(Stdio::piped()))?;
        let mut lines = BufReader::new(running.0.stdout.take().context("no output")?).lines();
        let first = lines.next().context("the server said nothing")??;
        let url = first.split_whitespace().last().unwrap_or_default().to_owned();
        ensure!(url.starts_with("http://"), "the server said: {first}");
        let (tell, told) = std::sync::mpsc::channel();
        // It must not be kept waiting by a pipe that nobody reads.
        thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(tell.send(line))));
        // It comes at once, or never.
        let welcome = told.recv_timeout(Duration::from_secs(2)).ok();
        Ok(Self { running, url, welcome })
    }
}

/// A process that ends with us.
pub struct RunningProcess(Child);

impl RunningProcess {
    pub fn start(command: &mut Command) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        Ok(Self(command.stdin(Stdio::null()).spawn().with_context(|| format!("cannot start {name}"))?))
    }

    /// Fails if it has ended by itself.
    pub fn check(&mut self) -> Result<()> {
        match self.0.try_wait()? {
            None => Ok(()),
            Some(status) => anyhow::bail!("it has ended ({status})"),
        }
    }

    /// Until it ends by itself, or by a signal to all of us.
    pub fn wait(&mut self) -> Result<()> {
        self.0.wait()?;
        check_interrupted()
    }

    /// Asks it to end what it has begun; it must do so well, and in time.
    pub fn end(mut self) -> Result<()> {
        let status = self.asked_to_end()?.context("it does not end")?;
        ensure!(status.success(), "it ended with {status}");
        Ok(())
    }

    fn asked_to_end(&mut self) -> Result<Option<std::process::ExitStatus>> {
        if let Some(pid) = Pid::from_raw(self.0.id().cast_signed()) {
            // It fails only if the process has ended already.
            let _ = kill_process(pid, Signal::TERM);
        }
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(status) = self.0.try_wait()? {
                return Ok(Some(status));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(None)
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        let ended = self.0.try_wait().is_ok_and(|status| status.is_some());
        if !ended && !matches!(self.asked_to_end(), Ok(Some(_))) {
            // It fails only if the process has ended meanwhile.
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}
