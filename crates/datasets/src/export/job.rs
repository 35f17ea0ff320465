//! Building exports: a task of the server that takes what is asked for, one after the other, and takes up again what a
//! crash interrupted.
//!
//! The files lie under one folder, each by its export's id. What is being built lies in a folder beside it whose name
//! begins with a dot, and takes the final name in one step: whoever sees the file sees all of it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use sqlx::PgPool;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;
use tracing::{error, info};
use uuid::Uuid;

use crate::export::build::{self, Order};
use crate::export::{Progress, order};
use store::clock;
use store::exports::{self, Finished};

/// How often it is looked for work.
const POLL: Duration = Duration::from_secs(1);
/// How often progress is written down: far below the time after which a builder is overdue.
const BEAT: Duration = Duration::from_secs(1);

/// The file of an export that is ready.
pub fn file(folder: &Path, id: Uuid) -> PathBuf {
    folder.join("exports").join(id.to_string())
}

/// Where it is built.
fn workshop(folder: &Path, id: Uuid) -> PathBuf {
    folder.join("exports").join(format!(".{id}"))
}

/// Builds what is asked for until it is stopped.
pub async fn serve(pool: &PgPool, folder: &Path, stop: &CancellationToken) {
    let mut claimed = None;
    let work = async {
        loop {
            match claim(pool).await {
                Ok(Some(id)) => {
                    claimed = Some(id);
                    build(pool, folder, id).await;
                    claimed = None;
                }
                Ok(None) => tokio::time::sleep(POLL).await,
                Err(error) => {
                    error!(%error, "exports cannot be looked for");
                    tokio::time::sleep(POLL).await;
                }
            }
        }
    };
    stop.run_until_cancelled(work).await;
    if let Some(id) = claimed
        && let Ok(mut db) = pool.acquire().await
    {
        // If not even this can be said, the heartbeat tells.
        drop(exports::release(&mut db, id).await);
    }
}

async fn claim(pool: &PgPool) -> anyhow::Result<Option<Uuid>> {
    Ok(exports::claim(&mut *pool.acquire().await?).await?)
}

/// Builds one export that was claimed, to whatever end.
pub async fn build(pool: &PgPool, folder: &Path, id: Uuid) {
    let outcome = attempt(pool, folder, id).await;
    clear(workshop(folder, id));
    let Err(failure) = outcome else { return };
    if failure.is::<Gone>() {
        info!(%id, "an export was cancelled");
        return;
    }
    error!(%id, error = format!("{failure:#}"), "an export failed");
    let said = async {
        let mut db = pool.acquire().await?;
        exports::fail(&mut db, id, &format!("{failure:#}"), clock::now()).await
    };
    if let Err(error) = said.await {
        error!(%id, %error, "that an export failed cannot be written down; it will be built again");
    }
}

async fn attempt(pool: &PgPool, folder: &Path, id: Uuid) -> anyhow::Result<()> {
    let export = exports::get(&mut *pool.acquire().await?, id).await?.ok_or(Gone)?;
    let checked = order::check(pool, &export.spec, None).await?;
    let checked = checked.map_err(|wrong| anyhow!(sentence(wrong)))?;
    let order = Order::of(pool, &export.spec, &checked).await?;
    let workshop = workshop(folder, id);
    clear(workshop.clone());
    fs::create_dir_all(&workshop).with_context(|| {
        format!(
            "cannot write to {}; see that the disk is there and has room, then make the export again",
            workshop.display()
        )
    })?;
    let mut watched = Watched { pool: pool.clone(), id, done: 0, written: Instant::now() };
    let built = build::build(pool, &order, &workshop.join("files"), &mut watched).await?;
    watched.write_down().await?;
    let packed = workshop.join("packed");
    let (to, parts) = (packed.clone(), built.clone());
    let beating = watched.beat();
    let packing = spawn_blocking(move || build::pack(&order, &parts, &workshop.join("files"), &to));
    let sum = tokio::select! {
        sum = packing => sum??,
        gone = beating => return Err(gone),
    };
    // Afterwards the file cannot be half there, for it is renamed; before, nobody can ask for it.
    fs::rename(&packed, file(folder, id))?;
    let finished = Finished {
        bytes: i64::try_from(sum.bytes)?,
        hash: sum.hash,
        rows: built.rows,
        report: serde_json::to_value(&built)?,
    };
    if !exports::finish(&mut *pool.acquire().await?, id, &finished, clock::now()).await? {
        remove(folder, id);
        return Err(Gone.into());
    }
    Ok(())
}

/// Deletes the file of an export that is no more.
pub fn remove(folder: &Path, id: Uuid) {
    if let Err(error) = fs::remove_file(file(folder, id))
        && error.kind() != ErrorKind::NotFound
    {
        error!(%id, %error, "the file of an export cannot be deleted");
    }
}

fn clear(workshop: PathBuf) {
    if let Err(error) = fs::remove_dir_all(&workshop)
        && error.kind() != ErrorKind::NotFound
    {
        error!(%error, folder = %workshop.display(), "what is left of building an export cannot be deleted");
    }
}

fn sentence(wrong: order::Wrong) -> String {
    wrong.into_iter().map(|(_, message)| message).collect::<Vec<_>>().join("; ")
}

/// It was cancelled or deleted while it was built.
#[derive(Debug, thiserror::Error)]
#[error("the export is not wanted any more")]
struct Gone;

/// Writes down how far it is, and stops when it is no longer wanted.
struct Watched {
    pool: PgPool,
    id: Uuid,
    done: i64,
    written: Instant,
}

impl Watched {
    async fn write_down(&mut self) -> anyhow::Result<()> {
        self.written = Instant::now();
        let wanted = exports::went_on(&mut *self.pool.acquire().await?, self.id, self.done).await?;
        if wanted { Ok(()) } else { Err(Gone.into()) }
    }

    /// Until it is no longer wanted.
    async fn beat(mut self) -> anyhow::Error {
        loop {
            tokio::time::sleep(BEAT).await;
            if let Err(error) = self.write_down().await {
                return error;
            }
        }
    }
}

impl Progress for Watched {
    async fn went_on(&mut self, conversations: i64) -> anyhow::Result<()> {
        self.done += conversations;
        if self.written.elapsed() >= BEAT { self.write_down().await } else { Ok(()) }
    }
}
