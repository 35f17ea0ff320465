//! Indexes that this machine searches: their files are copied from the object storage once, and stay open.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use domain::dataset::IndexFile;
use parking_lot::Mutex;
use store::clock;
use store::indexes::Index;
use store::objects::Objects;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::open::OpenIndex;
use crate::export::private;

/// Indexes whose files stay on this machine.
const MOST: usize = 16;
/// Bytes that are copied at once.
const BLOCK: u64 = 8 << 20;

/// Open indexes by their ids. Clones are the same.
#[derive(Clone)]
pub struct IndexCache(Arc<Shared>);

struct Shared {
    objects: Objects,
    folder: PathBuf,
    open: Mutex<HashMap<Uuid, Arc<OnceCell<OpenIndex>>>>,
}

impl IndexCache {
    /// `folder`: where the files are copied to; several processes may share it.
    pub fn new(objects: Objects, folder: PathBuf) -> Self {
        Self(Arc::new(Shared { objects, folder, open: Mutex::default() }))
    }

    /// An index that is searched. `None`: it is not ready.
    ///
    /// # Errors
    /// The storage, or the disk.
    pub async fn open(&self, index: &Index) -> anyhow::Result<Option<OpenIndex>> {
        let Some(files) = &index.files else { return Ok(None) };
        let cell = Arc::clone(self.0.open.lock().entry(index.id).or_default());
        let opened = cell.get_or_try_init(|| self.load(index.id, files)).await;
        Ok(Some(opened.with_context(|| format!("cannot open the index {}", index.summary.name))?.clone()))
    }

    async fn load(&self, id: Uuid, files: &[IndexFile]) -> anyhow::Result<OpenIndex> {
        let folder = self.0.folder.join(id.to_string());
        if !folder.is_dir() {
            self.make_room();
            self.copy(files, &folder).await?;
        }
        spawn_blocking(move || OpenIndex::in_folder(&folder)).await?
    }

    /// All files, in a folder that appears when it is whole.
    async fn copy(&self, files: &[IndexFile], folder: &Path) -> anyhow::Result<()> {
        private::folder(&self.0.folder)?;
        let workshop = tempfile::Builder::new().prefix(".index").tempdir_in(&self.0.folder)?;
        for file in files {
            ensure!(Path::new(&file.name).components().count() == 1, "{} is no name of a file", file.name);
            let mut to = tokio::fs::File::from_std(private::file(&workshop.path().join(&file.name))?);
            let (mut next, bytes) = (0, file.bytes.unsigned_abs());
            while next < bytes {
                let end = bytes.min(next + BLOCK);
                to.write_all(&self.0.objects.range(&file.object, next..end).await?).await?;
                next = end;
            }
            to.flush().await?;
        }
        let done = fs::rename(workshop.path(), folder);
        match done {
            // Another process was faster.
            Err(_) if folder.is_dir() => Ok(()),
            done => Ok(done?),
        }
    }

    /// Deletes the files of the indexes that were copied first. Whoever has them open keeps them until they are closed.
    fn make_room(&self) {
        let entries = fs::read_dir(&self.0.folder).into_iter().flatten().flatten();
        let copied = entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
        let mut copied: Vec<_> =
            copied.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
        copied.sort();
        for (_, folder) in copied.iter().rev().skip(MOST - 1) {
            // Under another name first: nobody opens what is half gone.
            let gone = self.0.folder.join(format!(".gone-{}", clock::id()));
            if fs::rename(folder, &gone).is_ok()
                && let Err(error) = fs::remove_dir_all(&gone)
                && error.kind() != ErrorKind::NotFound
            {
                tracing::warn!(%error, "files of an index cannot be deleted");
            }
        }
        let mut open = self.0.open.lock();
        if open.len() > MOST {
            open.retain(|_, cell| !cell.initialized());
        }
    }
}
