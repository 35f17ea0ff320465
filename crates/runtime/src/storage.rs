//! What runs take of the disk: it is counted while they are played, and a run whose project or disk has no room is paused.
//!
//! Counting costs the journal nothing: each task adds its bytes to a number in memory, and once a poll the sums are added to
//! the database. What a process that dies had not added is not counted, at most what it played since the last poll. A run
//! may exceed its project's limit by as much.

use std::collections::HashMap;
use std::time::Duration;

use domain::storage::{NoRoom, ProjectStorage};
use sqlx::{PgConnection, PgPool};
use store::storage;
use tokio::sync::Mutex;
use tracing::warn;
use uuid::Uuid;

use crate::disk::Disks;
use crate::loaded_run::RunControl;
use crate::runnable::Runnable;

/// Counts what the runs of a process take, and pauses those that have no room, as long as the process plays.
pub async fn watch<R: Runnable>(pool: PgPool, poll: Duration, runs: impl Fn() -> Vec<R>, disks: Disks) {
    loop {
        tokio::time::sleep(poll).await;
        let here = runs();
        let checked = async {
            count(&pool, here.clone()).await?;
            pause_without_room(&pool, &here, &disks).await
        };
        if let Err(error) = checked.await {
            warn!(%error, "cannot tell what runs take of the disk");
        }
    }
}

/// One after the other, so that the last word of a player comes when what was begun before it has ended.
static COUNTING: Mutex<()> = Mutex::const_new(());

/// Adds to the database what these runs have written, though the caller may be dropped meanwhile: what was taken from memory
/// would be forgotten.
///
/// # Errors
/// The database refuses it; then it is added the next time.
pub async fn count<R: Runnable>(pool: &PgPool, here: Vec<R>) -> store::Result<()> {
    if here.iter().all(|run| run.control().written.is_empty()) && COUNTING.try_lock().is_ok() {
        return Ok(());
    }
    let pool = pool.clone();
    let counted = tokio::spawn(async move {
        let _turn = COUNTING.lock().await;
        add(&mut *pool.acquire().await?, &here).await
    });
    // It fails only if it panics, and then there is nothing more to say.
    counted.await.unwrap_or(Ok(()))
}

async fn add<R: Runnable>(db: &mut PgConnection, here: &[R]) -> store::Result<()> {
    let taken: Vec<(&RunControl, i64)> = here.iter().map(|run| (run.control(), run.control().written.take())).collect();
    let written: Vec<(Uuid, i64)> =
        taken.iter().filter(|(_, bytes)| *bytes > 0).map(|(control, bytes)| (control.run.id, *bytes)).collect();
    let added = storage::add_to_runs(db, &written).await;
    if added.is_err() {
        taken.iter().for_each(|(control, bytes)| control.written.add(*bytes));
    }
    added
}

async fn pause_without_room<R: Runnable>(pool: &PgPool, here: &[R], disks: &Disks) -> store::Result<()> {
    let full = disks.room().err();
    let mut known: HashMap<Uuid, ProjectStorage> = HashMap::new();
    for control in here.iter().map(Runnable::control).filter(|control| !control.is_paused()) {
        let project = control.run.project;
        if full.is_none() && !known.contains_key(&project) {
            known.insert(project, storage::of_project(&mut *pool.acquire().await?, project).await?);
        }
        let no_room = full.clone().or_else(|| known.get(&project)?.room_for(0).err());
        if let Some(NoRoom(reason)) = no_room {
            control.pause_because(reason);
        }
    }
    Ok(())
}
