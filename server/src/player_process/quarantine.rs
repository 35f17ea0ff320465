//! Tasks whose players died again and again: each is played by a process that plays nothing else.

use std::time::Duration;

use runtime::this_host;
use sqlx::PgPool;
use store::{claims, players};
use tokio::task::JoinSet;
use tokio::time::interval;
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

use super::PlayerProcess;
use super::supervision::PlayerOrder;

/// How often it is looked for such tasks.
const LOOK: Duration = Duration::from_secs(2);
/// Most processes at the same time.
const MOST: usize = 4;

/// Until it is asked to stop. `order`: how a process is started that plays what is in quarantine, and ends when nothing is
/// left there.
pub async fn watch(order: &PlayerOrder, pool: &PgPool, stop: &CancellationToken) {
    let mut looks = interval(LOOK);
    let mut processes = JoinSet::new();
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            Some(_) = processes.join_next() => {}
            () = stop.cancelled() => break,
        }
        let waiting = async { claims::in_quarantine(&mut *pool.acquire().await?).await };
        // While the database is away there is nothing to do.
        let waiting = usize::try_from(waiting.await.unwrap_or_default()).unwrap_or_default();
        for _ in processes.len()..waiting.min(MOST) {
            match PlayerProcess::start(&order.arguments, &order.database_url, order.drain) {
                Ok(process) => drop(processes.spawn(see_through(process, pool.clone(), stop.clone()))),
                Err(error) => warn!(%error, "a process for tasks in quarantine cannot be started"),
            }
        }
    }
    while processes.join_next().await.is_some() {}
}

async fn see_through(mut process: PlayerProcess, pool: PgPool, stop: CancellationToken) {
    let pid = process.pid();
    let status = tokio::select! {
        status = process.ended() => status,
        () = stop.cancelled() => return process.stop().await,
    };
    if status.as_ref().is_ok_and(std::process::ExitStatus::success) {
        return;
    }
    error!(?status, "a process ended while it played a task in quarantine");
    let Some(pid) = pid else { return };
    let died = || async { players::died(&mut *pool.acquire().await?, &this_host(), pid).await };
    if let Err(error) = store::patiently(died).await {
        warn!(%error, "the task is free when the lease is over");
    }
}
