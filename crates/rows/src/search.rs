//! Indexes that the rows of a run search.

use anyhow::{Context, anyhow};
use datasets::search::OpenIndex;
use futures::FutureExt;
use futures::future::BoxFuture;
use runtime::Service;
use serde_json::Value;
use sqlx::PgPool;
use store::{StoreError, indexes};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use crate::resources::RowResources;

pub struct SearchedIndex(OpenIndex);

impl SearchedIndex {
    /// # Errors
    /// The index is not there or not ready, or this process has no way to it.
    pub async fn open(pool: &PgPool, resources: &RowResources, id: Uuid) -> anyhow::Result<Self> {
        let cache = resources.indexes.as_ref().ok_or_else(|| {
            anyhow!("it searches an index, and this process knows no place of indexes: start it with --objects")
        })?;
        let index = indexes::get(&mut *pool.acquire().await?, id).await?;
        let index = index.ok_or(StoreError::Deleted { what: "index", id })?;
        let open = cache.open(&index).await?;
        open.map(Self).with_context(|| format!("the index {} is not ready", index.summary.name))
    }
}

impl Service for SearchedIndex {
    fn answer(&self, _task: Uuid, message: Value) -> BoxFuture<'static, Result<Value, String>> {
        let index = self.0.clone();
        async move {
            let most = usize::try_from(message["k"].as_u64().unwrap_or_default()).unwrap_or(usize::MAX);
            let query = message["query"].as_str().unwrap_or_default().to_owned();
            let found = spawn_blocking(move || index.search(&query, most)).await.map_err(|error| error.to_string())?;
            let found = found.map_err(|error| format!("the index cannot be searched: {error:#}"))?;
            serde_json::to_value(found).map_err(|error| error.to_string())
        }
        .boxed()
    }
}
