//! Stored runs of conversations, with the documents that they were started with.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use projects::library::{Cache, Files, Library};
use sqlx::PgPool;
use store::runs::{self, Run};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use crate::plan::RunConfig;

/// A stored run with the documents it was started with.
///
/// # Errors
/// There is no such run, or this version of the program cannot read it.
pub async fn load(pool: &PgPool, id: Uuid) -> anyhow::Result<(Run, RunConfig, Library)> {
    let (run, config) = run(pool, id).await?;
    let library = library(pool, &run).await?;
    Ok((run, config, library))
}

/// Like [`load`], for many runs: those of the same documents share them.
///
/// # Errors
/// As [`load`].
pub async fn load_sharing(
    pool: &PgPool,
    id: Uuid,
    known: &mut BTreeMap<String, Arc<Library>>,
) -> anyhow::Result<(Run, RunConfig, Arc<Library>)> {
    let (run, config) = self::run(pool, id).await?;
    if let Some(library) = known.get(&run.library) {
        return Ok((run, config, Arc::clone(library)));
    }
    let library = Arc::new(library(pool, &run).await?);
    known.insert(run.library.clone(), Arc::clone(&library));
    Ok((run, config, library))
}

/// A stored run, without its documents.
///
/// # Errors
/// As [`load`].
pub async fn run(pool: &PgPool, id: Uuid) -> anyhow::Result<(Run, RunConfig)> {
    let run = runs::get(&mut *pool.acquire().await?, id).await?.with_context(|| format!("there is no run {id}"))?;
    let config = spec(&run)?;
    Ok((run, config))
}

/// What a run of conversations plays.
pub(crate) fn spec(run: &Run) -> anyhow::Result<RunConfig> {
    serde_json::from_value(run.spec.clone()).context("the run's spec cannot be read")
}

/// The documents of a run, from a cache if they are there.
///
/// # Errors
/// As [`load`].
pub async fn cached_library(pool: &PgPool, cache: &Cache, run: &Run) -> anyhow::Result<Arc<Library>> {
    if let Some(known) = cache.get(&run.library) {
        return Ok(known);
    }
    let library = Arc::new(library(pool, run).await?);
    cache.insert(run.library.clone(), Arc::clone(&library));
    Ok(library)
}

pub(crate) async fn library(pool: &PgPool, run: &Run) -> anyhow::Result<Library> {
    let stored = runs::library(&mut *pool.acquire().await?, &run.library).await?;
    let files: Files = serde_json::from_value(stored)?;
    // Many documents take seconds: neither a connection nor a thread that serves others waits for them.
    let library = spawn_blocking(move || Library::assemble_proved(files)).await?;
    library.map_err(|problems| {
        let list: Vec<String> = problems.iter().map(ToString::to_string).collect();
        anyhow!("this version of Groundstate does not accept the run's documents:\n{}", list.join("\n"))
    })
}
