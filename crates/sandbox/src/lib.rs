//! Runs computations over untrusted input in processes of their own.
//!
//! A document, a template or an upload can be made to loop, to fill memory or to overflow the stack, and no check in front
//! of it finds every such case. The process that serves HTTP therefore hands this work to a [`Sandbox`]: a few processes
//! of the same program which can open no file and no connection, and which are ended when they exceed a limit. Whoever
//! asked gets a [`Failure`] that names the limit; nobody else notices.
//!
//! A new computation is a type that implements [`Work`], or [`StreamedWork`] if what it works on does not fit into memory, and
//! is listed where the sandboxed process starts (`groundstate sandbox`).

mod confined;
mod frame;
mod limits;
mod pool;
mod process;
mod stream;
mod turns;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

pub use limits::{Limit, Limits, STACK};
pub use pool::Pool;
pub use stream::{Host, Owner, StreamedWork};
pub use worker::Worker;

/// A computation over untrusted input: all it needs, and what comes of it.
pub trait Work: Serialize + DeserializeOwned + Send + 'static {
    /// Unique among all kinds of work.
    const NAME: &'static str;
    const LIMITS: Limits = Limits::REQUEST;
    type Answer: Serialize + DeserializeOwned + Send + 'static;

    /// `report` tells whoever asked how far it is.
    fn work(self, report: &dyn Fn(Value)) -> Self::Answer;
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The work exceeded a limit and was ended.
    #[error("{0}")]
    Exceeded(Limit),
    /// Too much of the same project waits already.
    #[error("too many computations of this project are waiting; try again when some have ended")]
    Busy,
    /// A fault of the program.
    #[error("the computation failed: {0}")]
    Broken(String),
}

/// The program that runs, also if its file was replaced meanwhile.
pub fn this_program() -> PathBuf {
    let own = PathBuf::from("/proc/self/exe");
    if own.exists() { own } else { std::env::current_exe().unwrap_or(own) }
}

/// Where work is done.
#[derive(Clone, Default)]
pub enum Sandbox {
    /// In this process, for commands that serve nobody else.
    #[default]
    InProcess,
    Processes(Arc<Pool>),
}

impl Sandbox {
    /// Processes of a program that becomes a [`Worker`] when it is started with the argument `sandbox`.
    pub fn of_program(program: PathBuf) -> Self {
        Self::Processes(Arc::new(Pool::new(program)))
    }

    /// Processes of the program that runs.
    pub fn of_this_program() -> Self {
        Self::of_program(this_program())
    }

    /// Does the work in turn with that of other projects. Dropping the future ends the work.
    pub async fn run<W: Work>(&self, project: Uuid, work: W) -> Result<W::Answer, Failure> {
        self.run_reporting(project, work, |_| {}).await
    }

    /// Like [`run`](Self::run), and hears how far the work is.
    pub async fn run_reporting<W: Work>(
        &self,
        project: Uuid,
        work: W,
        heard: impl Fn(Value) + Send + Sync + 'static,
    ) -> Result<W::Answer, Failure> {
        match self {
            Self::Processes(pool) => pool.run(project, work, &heard).await,
            Self::InProcess => tokio::task::spawn_blocking(move || work.work(&heard))
                .await
                .map_err(|error| Failure::Broken(error.to_string())),
        }
    }
}
