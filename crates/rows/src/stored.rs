//! Stored runs of workflows, with the documents that they were started with.

use std::sync::Arc;

use anyhow::{Context, anyhow};
use domain::bad_input::BadInput;
use domain::workflow::Workflow as Document;
use projects::library::Files;
use sqlx::PgPool;
use store::runs::{self, Run};
use tokio::task::spawn_blocking;
use workflow::{DOCUMENT, Workflow};

use crate::spec::RowsSpec;
use projects::library::workflows;

/// # Errors
/// This version of the program cannot read what is stored.
pub fn spec(run: &Run) -> anyhow::Result<RowsSpec> {
    serde_json::from_value(run.spec.clone()).context("the run's spec cannot be read")
}

/// # Errors
/// The run's documents are not there, or this version of the program does not accept them.
pub async fn workflow(pool: &PgPool, run: &Run, name: &str) -> anyhow::Result<Arc<Workflow>> {
    let files = files(pool, run).await?;
    let (mut compiled, problems) = spawn_blocking(move || workflows::compile(&files)).await?;
    compiled.remove(name).ok_or_else(|| {
        let list: Vec<String> = problems.iter().map(ToString::to_string).collect();
        anyhow!("this version of Groundstate does not accept the run's workflow `{name}`:\n{}", list.join("\n"))
    })
}

/// A workflow's document as it was written, which costs less than to compile it.
///
/// # Errors
/// As [`workflow`].
pub async fn document(pool: &PgPool, run: &Run, name: &str) -> anyhow::Result<Document> {
    let path = format!("{}/{name}/{DOCUMENT}", workflows::FOLDER);
    let files = files(pool, run).await?;
    let text = files.get(&path).with_context(|| format!("the run's documents have no {path}"))?;
    domain::document::parse(&path, text).map_err(|problems| BadInput(problems).into())
}

async fn files(pool: &PgPool, run: &Run) -> anyhow::Result<Files> {
    Ok(serde_json::from_value(runs::library(&mut *pool.acquire().await?, &run.library).await?)?)
}
