//! Libraries that were assembled lately: compiling a project's documents takes longer than most of what is asked of them.

use std::sync::Arc;

use domain::Problem;
use parking_lot::Mutex;
use tokio::task::spawn_blocking;

use super::{Files, Library};

/// How many are kept. One of many scenarios takes some ten megabytes.
const ROOM: usize = 8;

/// Shared by all that a process does.
#[derive(Clone, Default)]
pub struct Cache(Arc<Mutex<CacheEntries>>);

/// By the hash of the files; the one that was used last stands last.
type CacheEntries = Vec<(String, Arc<Library>)>;

impl Cache {
    /// The library of documents that were found sound before.
    ///
    /// # Errors
    /// Every problem of every document, if they do not fit together after all.
    pub async fn assemble(&self, files: Files) -> anyhow::Result<Result<Arc<Library>, Vec<Problem>>> {
        let cache = self.clone();
        Ok(spawn_blocking(move || cache.assemble_here(files)).await?)
    }

    /// Like [`assemble`](Self::assemble), in a thread that may be kept busy.
    pub fn assemble_here(&self, files: Files) -> Result<Arc<Library>, Vec<Problem>> {
        let hash = files.hash();
        if let Some(known) = self.get(&hash) {
            return Ok(known);
        }
        let library = Arc::new(Library::assemble_proved(files)?);
        self.insert(hash, Arc::clone(&library));
        Ok(library)
    }

    /// The library of the files with this hash, if it is kept.
    pub fn get(&self, hash: &str) -> Option<Arc<Library>> {
        let mut kept = self.0.lock();
        let at = kept.iter().position(|(known, _)| known == hash)?;
        // The one that was used last stands last.
        let found = kept.remove(at);
        kept.push(found);
        kept.last().map(|(_, library)| Arc::clone(library))
    }

    /// Keeps a library under the hash of its files, in place of the one that was used longest ago.
    pub fn insert(&self, hash: String, library: Arc<Library>) {
        let mut kept = self.0.lock();
        kept.retain(|(known, _)| *known != hash);
        if kept.len() == ROOM {
            kept.remove(0);
        }
        kept.push((hash, library));
    }
}
