//! What the job of an export does.
//!
//! The files lie under one folder, each by its export's id. What is being built lies in a folder beside it whose name
//! begins with a dot, and takes the final name in one step, while nobody can take the job away: whoever sees the file sees
//! all of it, and it is the file of the export's row.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use domain::progress::JobProgress;
use runtime::Disks;
use runtime::jobs::{Completion, JobLease, LeaseLost};
use serde_json::json;
use tokio::task::spawn_blocking;
use tracing::error;
use uuid::Uuid;

use crate::export::build;
use crate::export::contents::Order;
use crate::export::{Room, order, private};
use store::exports::{self, BuiltExport};
use store::{clock, storage};

/// The file of an export that is ready.
pub fn file(folder: &Path, id: Uuid) -> PathBuf {
    folder.join("exports").join(id.to_string())
}

/// Builds an export, and keeps its file under the folder.
///
/// # Errors
/// It cannot be made as it was asked for, the database, or the disk.
pub async fn work(lease: JobLease, folder: &Path) -> anyhow::Result<Completion> {
    let (pool, id) = (&lease.pool, lease.job.subject);
    let export = exports::get(&mut *pool.acquire().await?, id).await?.ok_or(LeaseLost)?;
    let checked = order::check(pool, &export.spec, None).await?;
    let checked = checked.map_err(|wrong| anyhow!(sentence(wrong)))?;
    let order = Order::of(pool, &export.spec, &checked).await?;
    clear_workshops(folder, id);
    let room = room(&lease, folder).await?;
    let workshop = Arc::new(Workshop::new(folder, id)?);
    let total = order.size(pool).await?;
    let tell = |step: &str, done: i64| lease.report(JobProgress { step: step.to_owned(), done, total: Some(total) });
    tell("write", 0);
    let mut done = 0;
    let mut went_on = |conversations| {
        done = total.min(done + conversations);
        tell("write", done);
    };
    let built = build::build(pool, &order, &workshop.files(), &room, &mut went_on).await?;
    tell("pack", total);
    // What it packs into stays until it ends, though nobody may wait for it any more.
    let (own, report) = (Arc::clone(&workshop), built.report.clone());
    let sum = spawn_blocking(move || build::pack(&order, &report, &own.files(), &own.packed(), room)).await??;
    let finished = BuiltExport { bytes: i64::try_from(sum.bytes)?, hash: sum.hash, report: built.report };
    let mut tx = lease.transaction().await?;
    fs::rename(workshop.packed(), file(folder, id))?;
    exports::finish(&mut tx, id, &finished).await?;
    Ok(Completion::finished(tx, json!({"rows": finished.report.rows, "bytes": finished.bytes})))
}

/// The room that the project and the disk have left for an export.
async fn room(lease: &JobLease, folder: &Path) -> anyhow::Result<Room> {
    let project = lease.job.project.context("an export belongs to a project")?;
    let storage = storage::of_project(&mut *lease.pool.acquire().await?, project).await?;
    Ok(Room::of(&storage, Disks::of(vec![folder.to_owned()]))?)
}

/// Deletes all that there is of an export that is no more, or will not be.
pub fn remove(folder: &Path, id: Uuid) {
    if let Err(error) = fs::remove_file(file(folder, id))
        && error.kind() != ErrorKind::NotFound
    {
        error!(%id, %error, "the file of an export cannot be deleted");
    }
    clear_workshops(folder, id);
}

/// Deletes what is left of building an export: whoever built it died, or does so for nothing.
fn clear_workshops(folder: &Path, id: Uuid) {
    let own = format!(".{id}");
    let entries = fs::read_dir(folder.join("exports")).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&own)) {
        clear(&entry.path());
    }
}

fn clear(workshop: &Path) {
    if let Err(error) = fs::remove_dir_all(workshop)
        && error.kind() != ErrorKind::NotFound
    {
        error!(%error, folder = %workshop.display(), "what is left of building an export cannot be deleted");
    }
}

fn sentence(wrong: order::SpecErrors) -> String {
    wrong.into_iter().map(|(_, message)| message).collect::<Vec<_>>().join("; ")
}

/// Where an export is built, once: another process that does it has another folder. Gone when it is dropped.
struct Workshop(PathBuf);

impl Workshop {
    fn new(folder: &Path, id: Uuid) -> anyhow::Result<Self> {
        let exports = folder.join("exports");
        let own = exports.join(format!(".{id}-{}", clock::id()));
        private::folder(&exports).and_then(|()| private::folder(&own)).with_context(|| {
            format!(
                "cannot write to {}; see that the disk is there and has room, then make the export again",
                own.display()
            )
        })?;
        Ok(Self(own))
    }

    fn files(&self) -> PathBuf {
        self.0.join("files")
    }

    fn packed(&self) -> PathBuf {
        self.0.join("packed")
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        clear(&self.0);
    }
}
