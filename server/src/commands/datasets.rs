//! `groundstate datasets`: rows that runs begin with.

mod add;
mod show;

use std::process::ExitCode;

use domain::bad_input::BadInput;
use serde_json::json;
use sqlx::PgPool;
use store::datasets::{self, Dataset, DeleteOutcome};
use store::objects::Objects;
use store::{cleanup, projects};
use tracing::warn;

use super::connection::{Connection, ConnectionArgs, NewestArgs};
use super::storage_args::StorageArgs;
use crate::output::say;

#[derive(clap::Subcommand)]
pub enum DatasetsCommand {
    /// Make a dataset, or the next version of one, from JSONL, CSV, Parquet or text files, a run, a corpus or an export
    Add(add::Add),
    /// List the newest datasets
    List(NewestArgs),
    /// Show a dataset: its columns and how their values are distributed
    Show(DatasetName),
    /// Print rows as JSON lines
    Rows(show::Rows),
    /// Print rows that are drawn at random, as JSON lines
    Sample(show::Sample),
    /// Delete a version of a dataset that has no indexes
    Delete(DatasetObjects),
}

#[derive(clap::Args)]
pub struct DatasetName {
    /// The dataset: its name, NAME@VERSION or the id of a version
    dataset: String,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct DatasetObjects {
    /// The dataset: its name, NAME@VERSION or the id of a version
    dataset: String,
    #[command(flatten)]
    storage: StorageArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub async fn run(command: DatasetsCommand) -> anyhow::Result<ExitCode> {
    match &command {
        DatasetsCommand::Add(args) => add::add(args).await,
        DatasetsCommand::List(args) => with(&args.connection, async |pool| list(pool, args.limit).await).await,
        DatasetsCommand::Show(args) => {
            with(&args.connection, async |pool| {
                show::show(&named(pool, &args.dataset).await?);
                Ok(())
            })
            .await
        }
        DatasetsCommand::Rows(args) => with(args.connection(), async |pool| show::rows(pool, args).await).await,
        DatasetsCommand::Sample(args) => with(args.connection(), async |pool| show::sample(pool, args).await).await,
        DatasetsCommand::Delete(args) => {
            let objects = args.storage.objects(&args.connection)?;
            with(&args.connection, async |pool| delete(pool, &objects, &args.dataset).await).await
        }
    }
}

async fn with(
    args: &ConnectionArgs,
    done: impl AsyncFnOnce(&PgPool) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    let connection = Connection::open(args).await?;
    let done = done(&connection.pool).await.map(|()| ExitCode::SUCCESS);
    connection.close().await;
    done
}

/// The version of a dataset that a name, NAME@VERSION or an id means.
pub(super) async fn named(pool: &PgPool, text: &str) -> anyhow::Result<Dataset> {
    let mut db = pool.acquire().await?;
    let (name, version) = match text.rsplit_once('@') {
        Some((name, version)) => (name, Some(version.parse::<i32>().ok())),
        None => (text, None),
    };
    let id = match (text.parse(), version) {
        (Ok(id), _) => Some(id),
        (Err(_), Some(None)) => None,
        (Err(_), version) => datasets::named(&mut db, projects::DEFAULT, name, version.flatten()).await?,
    };
    let found = match id {
        Some(id) => datasets::get(&mut db, id).await?,
        None => None,
    };
    let missing = || BadInput::one("DATASET", format!("there is no dataset `{text}`; see: groundstate datasets list"));
    found.ok_or_else(|| missing().into())
}

async fn list(pool: &PgPool, limit: i64) -> anyhow::Result<()> {
    say!("dataset                               state            rows        bytes  name");
    for dataset in datasets::list(&mut *pool.acquire().await?, projects::DEFAULT, None, limit).await? {
        let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
        let (state, rows, bytes) = (dataset.state.into_str(), number(dataset.rows), number(dataset.bytes));
        say!("{}  {state:<9} {rows:>11} {bytes:>12}  {}@{}", dataset.id, dataset.name, dataset.version);
    }
    Ok(())
}

async fn delete(pool: &PgPool, objects: &Objects, text: &str) -> anyhow::Result<()> {
    let dataset = named(pool, text).await?;
    let mut tx = pool.begin().await?;
    match datasets::delete(&mut tx, dataset.id).await? {
        DeleteOutcome::Done | DeleteOutcome::Missing => {
            let (command, detail) = ("groundstate datasets delete", json!({"name": text}));
            super::record(&mut tx, Some(dataset.project), command, &dataset.id.to_string(), detail).await?;
            tx.commit().await?;
        }
        DeleteOutcome::Indexed => {
            return Err(BadInput::one("DATASET", "it has indexes; delete them first").into());
        }
    }
    if let Err(error) = cleanup::sweep(&mut *pool.acquire().await?, objects).await {
        warn!(%error, "the files of the dataset are deleted later");
    }
    say!("the dataset {}@{} is deleted", dataset.summary.name, dataset.summary.version);
    Ok(())
}
