//! Runs of episodes with the documents that they play, those that were asked for lately.

use std::sync::Arc;

use parking_lot::Mutex;
use projects::library::{Cache, Library};
use sqlx::PgPool;
use store::StoreError;
use store::runs::Run;
use uuid::Uuid;

use super::stored;
use crate::plan::RunConfig;
use crate::stored_runs;

/// How many are kept: the documents of each may take some ten megabytes.
const ROOM: usize = 16;

/// A run of episodes with the documents that it plays.
pub struct StoredEnvironment {
    pub run: Run,
    pub config: RunConfig,
    pub library: Arc<Library>,
}

/// The one that was asked for last stands last.
#[derive(Default)]
pub struct StoredEnvironments(Mutex<Vec<Arc<StoredEnvironment>>>);

impl StoredEnvironments {
    pub async fn of_run(&self, pool: &PgPool, libraries: &Cache, run: Uuid) -> anyhow::Result<Arc<StoredEnvironment>> {
        if let Some(known) = self.known(run) {
            return Ok(known);
        }
        let (run, config) = stored(&mut *pool.acquire().await.map_err(StoreError::from)?, run).await?;
        let library = stored_runs::cached_library(pool, libraries, &run).await?;
        let found = Arc::new(StoredEnvironment { run, config, library });
        let mut kept = self.0.lock();
        if kept.len() == ROOM {
            kept.remove(0);
        }
        kept.push(Arc::clone(&found));
        Ok(found)
    }

    fn known(&self, run: Uuid) -> Option<Arc<StoredEnvironment>> {
        let mut kept = self.0.lock();
        let at = kept.iter().position(|known| known.run.id == run)?;
        let found = kept.remove(at);
        kept.push(Arc::clone(&found));
        Some(found)
    }
}
