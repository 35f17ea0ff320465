//! What the job of a dataset does.
//!
//! An attempt begins from nothing, and its objects have names of their own. The dataset's row names those of the attempt that
//! ended the job, in the transaction that ends it.

use std::path::Path;

use anyhow::Context as _;
use domain::progress::JobProgress;
use domain::storage::{NoRoom, ProjectStorage};
use runtime::Disks;
use runtime::jobs::{Completion, JobLease, LeaseLost};
use sandbox::Sandbox;
use serde_json::json;
use store::datasets::{self, DatasetContents};
use store::objects::Objects;
use store::{cleanup, clock, storage, uploads};
use tracing::warn;
use uuid::Uuid;

use super::import::{Options, Sizes, Target, import};
use super::source::{Places, ReadySource, prepare};
use super::writer::WrittenDataset;
use crate::room::Room;

/// Makes a dataset. `files`: the folder of exports. `sandbox`: where files are decoded that can ask for more than they have.
///
/// # Errors
/// What it is made of cannot be read, there is no room, the database, or the storage.
pub async fn work(lease: JobLease, objects: &Objects, files: &Path, sandbox: &Sandbox) -> anyhow::Result<Completion> {
    let (pool, id) = (&lease.pool, lease.job.subject);
    let dataset = datasets::get(&mut *pool.acquire().await?, id).await?.ok_or(LeaseLost)?;
    clear(&lease, objects, &datasets::prefix(id)).await?;
    lease.report(JobProgress { step: "prepare".to_owned(), done: 0, total: None });
    let room = room(&lease, objects, files).await?;
    let places = Places { pool, objects, files, room: &room };
    let ReadySource { files: sources, options, upload, workshop } =
        prepare(&places, dataset.project, &dataset.summary.source).await?;
    let options = Options { decoder: sandbox.clone(), project: dataset.project, ..options };
    let target = Target { objects: objects.clone(), prefix: attempt(id), room: room.clone(), sizes: Sizes::default() };
    let (own, stop) = (lease.clone(), lease.over().clone());
    let progress = move |rows: u64| {
        let done = i64::try_from(rows).unwrap_or(i64::MAX);
        own.report(JobProgress { step: "read".to_owned(), done, total: None });
    };
    let written = import(sources, options, target, stop, progress).await?;
    drop(workshop);
    let contents = contents(written)?;
    let mut tx = lease.transaction().await?;
    datasets::finish(&mut tx, id, &contents).await?;
    if let Some(upload) = upload {
        uploads::delete(&mut tx, upload).await?;
    }
    Ok(Completion::finished(tx, json!({"rows": contents.rows, "bytes": contents.bytes})))
}

/// How the paths of this attempt's objects begin.
fn attempt(id: Uuid) -> String {
    format!("{}/{}", datasets::prefix(id), clock::id())
}

/// Deletes what attempts before this one have left, and what was discarded meanwhile.
pub(crate) async fn clear(lease: &JobLease, objects: &Objects, prefix: &str) -> anyhow::Result<()> {
    // As long as the job cannot be taken away: who took it has begun to write.
    let held = lease.transaction().await?;
    objects.delete_below(prefix).await?;
    held.rollback().await.map_err(store::StoreError::from)?;
    if let Err(error) = cleanup::sweep(&mut *lease.pool.acquire().await?, objects).await {
        warn!(%error, "objects that nothing names any more cannot be deleted");
    }
    Ok(())
}

/// The room that the project and the disks have left for a dataset or an index.
pub(crate) async fn room(lease: &JobLease, objects: &Objects, files: &Path) -> anyhow::Result<Room> {
    let project = lease.job.project.context("the job belongs to no project")?;
    let storage = storage::of_project(&mut *lease.pool.acquire().await?, project).await?;
    Ok(Room::of_dataset(&storage, disks(objects, files))?)
}

/// # Errors
/// The project, or one of the disks, has no room for any dataset.
pub fn free_room(storage: &ProjectStorage, objects: &Objects, files: &Path) -> Result<(), NoRoom> {
    Room::of_dataset(storage, disks(objects, files)).map(drop)
}

fn disks(objects: &Objects, files: &Path) -> Disks {
    Disks::of(objects.folder().into_iter().chain([files]).map(Path::to_owned).collect())
}

fn contents(written: WrittenDataset) -> anyhow::Result<DatasetContents> {
    let WrittenDataset { rows, bytes, hash, columns, parts } = written;
    Ok(DatasetContents { rows: rows.try_into()?, bytes: bytes.try_into()?, hash, columns, parts })
}
