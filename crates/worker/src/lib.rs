//! A process that serves models: it starts an inference engine for each, keeps it well, and is a member of the pool as
//! long as it lives. We write no inference engine.
//!
//! Everything runs as one task on the program's first thread: an engine ends with the thread that started it.

mod backoff;
pub mod config;
mod diagnosis;
mod engine;
pub mod gpus;
mod health;
mod load;
mod member;
mod name;
pub mod placement;
pub mod process;
mod report;
pub mod resolve;
mod status;
mod supervise;

use std::path::Path;

use anyhow::{anyhow, bail};
use domain::api::workers::WorkerJoin;
use futures::future::join_all;
use reqwest::{Client, Url};
use tokio_util::sync::CancellationToken;

use self::engine::Launch;
use self::gpus::Driver;
use self::health::Probe;
use self::member::Member;
pub use self::member::Server;
use self::report::report;
use self::status::Status;
use self::supervise::Supervisor;
pub use self::supervise::Timing;
use domain::bad_input::BadInput;

/// One model, ready to be served.
pub struct Worker {
    pub join: WorkerJoin,
    /// None if somebody else runs the engine.
    pub launch: Option<Launch>,
    /// Where this machine reaches the engine.
    pub local: Url,
    pub key: Option<String>,
    pub gpus: Option<Vec<u32>>,
}

/// Serves until it is asked to stop, and lets what was begun come to its end; or leaves `now`.
///
/// # Errors
/// The server does not want one of the workers, or an engine cannot be started.
pub async fn run(
    workers: &[Worker],
    server: &Server,
    timing: &Timing,
    stop: &CancellationToken,
    now: &CancellationToken,
) -> anyhow::Result<()> {
    let driver = Driver::open();
    let statuses: Vec<Status> = workers.iter().map(|_| Status::new()).collect();
    let members: Vec<Member<'_>> = (workers.iter().zip(&statuses))
        .map(|(worker, status)| Member::new(server, &worker.join, status, &driver, worker.gpus.clone()))
        .collect();
    // All are let in before the first engine is started, which may take half an hour.
    for member in &members {
        if let Err(refused) = member.begin().await {
            leave(&members).await;
            let (flag, why) = refused.explain();
            bail!(BadInput::one(flag, why));
        }
    }
    let lives = workers.iter().zip(&members).map(|(worker, member)| live(worker, member, timing, stop));
    tokio::select! {
        ended = join_all(lives) => ended.into_iter().collect(),
        () = now.cancelled() => {
            leave(&members).await;
            Ok(())
        }
    }
}

async fn leave(members: &[Member<'_>]) {
    join_all(members.iter().map(Member::leave)).await;
}

/// One worker, from its first start until it has left.
async fn live(worker: &Worker, member: &Member<'_>, timing: &Timing, stop: &CancellationToken) -> anyhow::Result<()> {
    let name = &worker.join.name;
    // What we run ourselves is on this machine, where no proxy leads.
    let client = if worker.launch.is_some() { Client::builder().no_proxy() } else { Client::builder() };
    let probe = Probe {
        http: client.build()?,
        url: worker.local.clone(),
        model: worker.join.served_as.clone().unwrap_or_else(|| worker.join.model.clone()),
        key: worker.key.clone(),
        answer_timeout: timing.answer_timeout,
    };
    let supervisor = Supervisor {
        name,
        launch: worker.launch.as_ref(),
        key: worker.key.as_deref(),
        probe: &probe,
        status: member.status,
        timing,
    };
    tokio::select! {
        drained = supervisor.run(stop) => {
            member.leave().await;
            if let Some(engine) = drained? {
                report!(name, "left the pool; the engine is stopped");
                engine.stop(timing.stop_grace).await;
            }
            report!(name, "done");
            Ok(())
        }
        refused = member.stay() => {
            let (flag, why) = refused.explain();
            report!(name, "stopped: {why}");
            Err(anyhow!("{name}: {flag}: {why}; the engine was stopped"))
        }
    }
}

/// Whether a program of this name can be started, as far as its file says.
fn is_program(name: &str) -> bool {
    if name.contains('/') {
        return Path::new(name).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}
