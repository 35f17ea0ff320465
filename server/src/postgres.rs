//! The database this process works with: `DATABASE_URL`, or a private PostgreSQL in the data directory.

use std::env;
use std::path::{Path, PathBuf};

use tokio::task::{JoinError, spawn_blocking};

/// The async face of [`database::PrivatePostgres`].
pub struct PrivatePostgres {
    inner: database::PrivatePostgres,
    /// Where its data are; `None` if they go with it.
    folder: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Database(#[from] database::Error),
    #[error("starting PostgreSQL was interrupted")]
    Interrupted(#[from] JoinError),
}

impl PrivatePostgres {
    /// Starts PostgreSQL in `data_dir`, or joins the one that another process of ours runs there.
    pub async fn start(data_dir: &Path) -> Result<Self, StartError> {
        let (data_dir, folder) = (data_dir.to_owned(), Some(data_dir.to_owned()));
        let inner = spawn_blocking(move || database::PrivatePostgres::start(&data_dir)).await??;
        Ok(Self { inner, folder })
    }

    /// A fresh one for tests, removed when it is stopped.
    pub async fn throwaway() -> Result<Self, StartError> {
        let inner = spawn_blocking(database::PrivatePostgres::throwaway).await??;
        Ok(Self { inner, folder: None })
    }

    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    pub fn url(&self) -> &str {
        self.inner.url()
    }

    /// Returns when PostgreSQL has stopped, or at once when other processes use it still. A mere drop stops it too,
    /// but nobody waits for it.
    pub async fn stop(self) {
        // An error means that the runtime is going down, and then so does the lock that keeps PostgreSQL up.
        let _ = spawn_blocking(move || self.inner.stop()).await;
    }
}

/// Where data lie unless `--data-dir` says otherwise. Not root's home: PostgreSQL runs as another user then, who may
/// not enter it.
pub fn default_data_dir() -> PathBuf {
    if database::runs_as_root() {
        return PathBuf::from("/var/lib/groundstate");
    }
    let home = || env::home_dir().unwrap_or_default().join(".local/share");
    env::var_os("XDG_DATA_HOME").map_or_else(home, PathBuf::from).join("groundstate")
}
