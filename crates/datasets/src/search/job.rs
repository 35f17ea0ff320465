//! What the job of an index does.

use std::fs;
use std::path::Path;
use std::pin::pin;

use anyhow::{Context as _, anyhow};
use domain::dataset::IndexFile;
use domain::progress::JobProgress;
use runtime::jobs::{Completion, JobLease, LeaseLost};
use serde_json::json;
use store::clock;
use store::indexes;
use store::objects::Objects;
use tokio::io::{AsyncWriteExt as _, BufReader, copy_buf};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::build::{Order, build};
use crate::dataset::OpenDataset;
use crate::dataset::job::{clear, room};
use crate::export::private;

const BUFFER: usize = 1 << 20;

/// Builds an index. `files`: the folder of exports, where it is built.
///
/// # Errors
/// The dataset has no such columns or cannot be read, there is no room, the database, the disk, or the storage.
pub async fn work(lease: JobLease, objects: &Objects, files: &Path) -> anyhow::Result<Completion> {
    let (pool, id) = (&lease.pool, lease.job.subject);
    let index = indexes::get(&mut *pool.acquire().await?, id).await?.ok_or(LeaseLost)?;
    clear(&lease, objects, &indexes::prefix(id)).await?;
    let dataset = OpenDataset::open(&mut *pool.acquire().await?, objects, index.dataset).await?;
    let dataset = dataset.context("the dataset is not ready")?;
    let room = room(&lease, objects, files).await?;
    private::folder(files)?;
    let workshop = tempfile::Builder::new().prefix(".index").tempdir_in(files)?;
    let (order, folder) = (Order { dataset, columns: index.summary.columns, room }, workshop.path().to_owned());
    let (own, stop, runtime) = (lease.clone(), lease.over().clone(), Handle::current());
    let built = spawn_blocking(move || {
        let total = i64::try_from(order.dataset.len()).ok();
        let progress = |rows: u64| {
            let done = i64::try_from(rows).unwrap_or(i64::MAX);
            own.report(JobProgress { step: "read".to_owned(), done, total });
        };
        // The folder stays until it ends, though nobody may wait for it any more.
        let documents = build(&order, &folder, &runtime, &stop, &progress)?;
        anyhow::Ok((documents, workshop))
    });
    let (documents, workshop) = built.await??;
    lease.report(JobProgress { step: "keep".to_owned(), done: 0, total: None });
    let kept = keep(objects, workshop.path(), id).await?;
    let documents = i64::try_from(documents)?;
    let mut tx = lease.transaction().await?;
    indexes::finish(&mut tx, id, documents, &kept).await?;
    Ok(Completion::finished(tx, json!({"documents": documents})))
}

/// Copies the files of an index to the object storage.
async fn keep(objects: &Objects, folder: &Path, id: Uuid) -> anyhow::Result<Vec<IndexFile>> {
    let attempt = format!("{}/{}", indexes::prefix(id), clock::id());
    let mut kept = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().into_string().map_err(|name| anyhow!("{} is no UTF-8", name.display()))?;
        // Locks, and a list of files that was for the writer.
        if name.starts_with('.') {
            continue;
        }
        let object = format!("{attempt}/{name}");
        let mut from = BufReader::with_capacity(BUFFER, tokio::fs::File::open(folder.join(&name)).await?);
        let mut to = pin!(objects.writer(&object)?);
        let bytes = copy_buf(&mut from, &mut to).await?;
        to.shutdown().await?;
        kept.push(IndexFile { object, name, bytes: i64::try_from(bytes)? });
    }
    kept.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(kept)
}
