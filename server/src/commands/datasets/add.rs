//! `groundstate datasets add`.

use std::process::ExitCode;

use domain::api::{BuildState, DatasetSummary};
use domain::bad_input::BadInput;
use domain::corpus::name_problem;
use domain::dataset::{DatasetSource, FileRows};
use runtime::jobs::Handlers;
use sandbox::Sandbox;
use serde_json::json;
use sqlx::PgPool;
use store::datasets::{self, NewDatasetRow};
use store::objects::{Objects, S3};
use store::{clock, projects};
use uuid::Uuid;

use super::super::connection::{Connection, ConnectionArgs};
use super::super::job_progress::{self, Seen};
use super::super::storage_args::StorageArgs;
use super::super::{INTERRUPTED, record};
use super::show;
use crate::jobs::with_objects;

/// Exit code if the files could not become a dataset.
const FAILED: u8 = 1;

#[derive(clap::Args)]
pub struct Add {
    /// Its name: 1 to 64 lower-case letters, digits, `_`, `-` and `.`
    name: String,
    /// A file, a folder, or an s3:// address: .jsonl, .csv, .tsv or .txt, also with .gz or .zst, or .parquet
    path: String,
    /// Keep all values of CSV files as texts, instead of reading numbers and booleans
    #[arg(long)]
    csv_as_text: bool,
    #[command(flatten)]
    storage: StorageArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub async fn add(args: &Add) -> anyhow::Result<ExitCode> {
    // What is wrong with it is said before a database is started for it.
    if let Some(problem) = name_problem(&args.name) {
        return Err(BadInput::one("NAME", problem).into());
    }
    ::datasets::dataset::files::find(&args.path).await?;
    let objects = args.storage.objects(&args.connection)?;
    let connection = Connection::open(&args.connection).await?;
    let added = import(args, &connection.pool, objects).await;
    connection.close().await;
    added
}

async fn import(args: &Add, pool: &PgPool, objects: Objects) -> anyhow::Result<ExitCode> {
    let (id, job) = (clock::id(), clock::id());
    let path = if args.path.starts_with(S3) { args.path.clone() } else { absolute(&args.path)? };
    let source = DatasetSource::Files(FileRows { path, csv_as_text: args.csv_as_text });
    let name = args.name.as_str();
    let create = async |tx: &mut sqlx::PgConnection| {
        let (project, created_at) = (projects::DEFAULT, clock::now());
        let new = NewDatasetRow { id, job, project, name, source: &source, created_by: "", created_at };
        let version = datasets::insert(&mut *tx, &new).await?;
        let detail = json!({"name": name, "version": version});
        record(tx, Some(projects::DEFAULT), "groundstate datasets add", &id.to_string(), detail).await
    };
    let files = args.storage.files(&args.connection);
    let handlers = with_objects(Handlers::default(), &objects, &files, &Sandbox::InProcess);
    match job_progress::create_and_wait(pool, job, create, &handlers).await? {
        Seen::Ended => {}
        Seen::Interrupted => {
            eprintln!("interrupted; the dataset is cancelled");
            return Ok(ExitCode::from(INTERRUPTED));
        }
    }
    report(pool, id).await
}

fn absolute(path: &str) -> anyhow::Result<String> {
    let full = std::fs::canonicalize(path)?;
    let text = full.to_str().ok_or_else(|| BadInput::one("PATH", "the path is no UTF-8 text"))?;
    Ok(text.to_owned())
}

/// Says what came of it. A dataset that failed is not kept: there is nothing in it, and its files may be mended.
async fn report(pool: &PgPool, id: Uuid) -> anyhow::Result<ExitCode> {
    let Some(dataset) = datasets::get(&mut *pool.acquire().await?, id).await? else {
        return Ok(ExitCode::from(FAILED));
    };
    if dataset.summary.state == BuildState::Ready {
        show::show(&dataset);
        return Ok(ExitCode::SUCCESS);
    }
    let DatasetSummary { state, reason, .. } = &dataset.summary;
    eprintln!("{}", reason.clone().unwrap_or_else(|| format!("the dataset is {state}")));
    let mut tx = pool.begin().await?;
    datasets::delete(&mut tx, id).await?;
    tx.commit().await?;
    Ok(ExitCode::from(FAILED))
}
