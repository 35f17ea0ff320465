//! Libraries that were assembled lately: compiling a project's documents takes longer than most of what is asked of them.

use std::sync::Arc;

use domain::Problem;
use parking_lot::Mutex;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::{Files, Library};

/// How many are kept. One of many scenarios takes some ten megabytes.
const ROOM: usize = 8;

/// Shared by all that a process does.
#[derive(Clone, Default)]
pub struct Cache(Arc<Mutex<CacheEntries>>);

#[derive(Default)]
struct CacheEntries {
    /// By the hash of the files; the one that was used last stands last.
    libraries: Vec<(String, Arc<Library>)>,
    /// Of projects the hash of their files, as long as their documents have this stamp.
    projects: Vec<(Uuid, Stamp, String)>,
}

/// Changes whenever a document of a project does.
type Stamp = (i64, i64);

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
        self.0.lock().library(hash)
    }

    /// The library of a project whose documents have this stamp, if it is kept.
    pub fn of_project(&self, project: Uuid, stamp: Stamp) -> Option<Arc<Library>> {
        let mut kept = self.0.lock();
        let known = kept.projects.iter().find(|(known, at, _)| (*known, *at) == (project, stamp));
        let hash = known.map(|(.., hash)| hash.clone())?;
        kept.library(&hash)
    }

    /// Remembers that a library is that of a project, as long as its documents have this stamp.
    pub fn note_project(&self, project: Uuid, stamp: Stamp, hash: &str) {
        let CacheEntries { libraries, projects } = &mut *self.0.lock();
        projects.retain(|(known, _, hash)| *known != project && libraries.iter().any(|(kept, _)| kept == hash));
        projects.push((project, stamp, hash.to_owned()));
    }

    /// Keeps a library under the hash of its files, in place of the one that was used longest ago.
    pub fn insert(&self, hash: String, library: Arc<Library>) {
        let kept = &mut self.0.lock().libraries;
        kept.retain(|(known, _)| *known != hash);
        if kept.len() == ROOM {
            kept.remove(0);
        }
        kept.push((hash, library));
    }
}

impl CacheEntries {
    fn library(&mut self, hash: &str) -> Option<Arc<Library>> {
        let at = self.libraries.iter().position(|(known, _)| known == hash)?;
        // The one that was used last stands last.
        let found = self.libraries.remove(at);
        self.libraries.push(found);
        self.libraries.last().map(|(_, library)| Arc::clone(library))
    }
}
