//! A few sandboxed processes, shared by all projects.

use std::path::PathBuf;
use std::thread::available_parallelism;

use parking_lot::Mutex;
use serde_json::Value;
use tracing::warn;
use uuid::Uuid;

use crate::process::Process;
use crate::stream::{Host, StreamedWork};
use crate::turns::Turns;
use crate::{Failure, Work};

/// At least two: one project never takes all of them.
const FEWEST: usize = 2;
const MOST: usize = 8;

pub struct Pool {
    program: PathBuf,
    turns: Turns,
    idle: Mutex<Vec<Process>>,
}

impl Pool {
    pub(crate) fn new(program: PathBuf) -> Self {
        let processes = available_parallelism().map_or(FEWEST, usize::from).clamp(FEWEST, MOST);
        Self { program, turns: Turns::new(processes), idle: Mutex::default() }
    }

    /// Does streamed work in a process of its own, which no other work waits for: only jobs ask for it, and jobs take turns.
    /// Dropping the future ends the work.
    ///
    /// # Errors
    /// A limit is exceeded, the host takes no more, or the work panicked.
    pub async fn stream<W: StreamedWork>(
        &self,
        project: Uuid,
        work: &W,
        host: &mut impl Host,
    ) -> Result<W::Answer, Failure> {
        let broken = |error: serde_json::Error| Failure::Broken(error.to_string());
        let given = serde_json::to_vec(work).map_err(broken)?;
        let mut process = Process::start(&self.program).map_err(|error| Failure::Broken(error.to_string()))?;
        let answer = process.stream::<W>(&given, host).await.inspect_err(|failure| {
            warn!(%project, work = W::NAME, "{failure}");
        })?;
        serde_json::from_slice(&answer).map_err(broken)
    }

    pub(crate) async fn run<W: Work>(
        &self,
        project: Uuid,
        work: W,
        heard: &(dyn Fn(Value) + Sync),
    ) -> Result<W::Answer, Failure> {
        let broken = |error: serde_json::Error| Failure::Broken(error.to_string());
        let given = serde_json::to_vec(&work).map_err(broken)?;
        // Large documents are not held twice.
        drop(work);
        let _turn = self.turns.enter(project).await.ok_or(Failure::Busy)?;
        let idle = self.idle.lock().pop();
        let mut process = match idle {
            Some(process) => process,
            None => Process::start(&self.program).map_err(|error| Failure::Broken(error.to_string()))?,
        };
        let answer = process.run::<W>(&given, heard).await.inspect_err(|failure| {
            warn!(%project, work = W::NAME, "{failure}");
        })?;
        // A process that did not answer is ended with the future, or with the error.
        if process.is_fresh() {
            self.idle.lock().push(process);
        }
        serde_json::from_slice(&answer).map_err(broken)
    }
}
