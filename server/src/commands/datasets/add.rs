//! `groundstate datasets add`.

use std::process::ExitCode;

use ::datasets::dataset::{files, source};
use domain::Problem;
use domain::api::{BuildState, DatasetSummary};
use domain::bad_input::BadInput;
use domain::corpus::name_problem;
use domain::dataset::{DatasetSource, ExportRows, FileRows};
use domain::export::{CorpusRows, RunRows};
use runtime::jobs::Handlers;
use sandbox::Sandbox;
use serde_json::json;
use sqlx::PgPool;
use store::datasets::{self, NewDatasetRow};
use store::objects::{Objects, S3};
use store::{clock, exports, projects};
use uuid::Uuid;

use super::super::connection::{Connection, ConnectionArgs};
use super::super::job_progress::{self, Seen};
use super::super::storage_args::StorageArgs;
use super::super::{INTERRUPTED, record};
use super::show;
use crate::jobs::with_objects;

/// Exit code if the source could not become a dataset.
const FAILED: u8 = 1;

#[derive(clap::Args)]
pub struct Add {
    /// Its name: 1 to 64 lower-case letters, digits, `_`, `-` and `.`
    name: String,
    #[command(flatten)]
    source: SourceArgs,
    /// Keep all values of CSV files as texts, instead of reading numbers and booleans
    #[arg(long, requires = "path")]
    csv_as_text: bool,
    #[command(flatten)]
    storage: StorageArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct SourceArgs {
    /// A file, a folder, or an s3:// address: .jsonl, .csv, .tsv or .txt, also with .gz or .zst, or .parquet
    path: Option<String>,
    /// A run: the conversations that were accepted, or, of a run of a workflow, the outputs of its rows
    #[arg(long)]
    run: Option<String>,
    /// A corpus, by name or id: the conversations of its training part
    #[arg(long)]
    corpus: Option<String>,
    /// An export: its records
    #[arg(long)]
    export: Option<String>,
}

pub async fn add(args: &Add) -> anyhow::Result<ExitCode> {
    // What is wrong with it is said before a database is started for it.
    if let Some(problem) = name_problem(&args.name) {
        return Err(BadInput::one("NAME", problem).into());
    }
    if let Some(path) = &args.source.path {
        files::find(path).await?;
    }
    let objects = args.storage.objects(&args.connection)?;
    let connection = Connection::open(&args.connection).await?;
    let added = import(args, &connection.pool, objects).await;
    connection.close().await;
    added
}

async fn import(args: &Add, pool: &PgPool, objects: Objects) -> anyhow::Result<ExitCode> {
    let (id, job) = (clock::id(), clock::id());
    let source = source_of(args, pool).await?;
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

/// The source that is named. It is in the default project, and it is ready.
async fn source_of(args: &Add, pool: &PgPool) -> anyhow::Result<DatasetSource> {
    let SourceArgs { path, run, corpus, export } = &args.source;
    let source = if let Some(id) = run.clone() {
        DatasetSource::Run(RunRows { id, judging: None, corrected: false, all: false, branches: false })
    } else if let Some(name) = corpus {
        let named = exports::corpus_named(&mut *pool.acquire().await?, projects::DEFAULT, name).await?;
        let id = named.map_or_else(|| name.clone(), |id| id.to_string());
        DatasetSource::Corpus(CorpusRows { id, split: None, all: false, branches: false })
    } else if let Some(id) = export.clone() {
        DatasetSource::Export(ExportRows { id })
    } else {
        let path = path.as_deref().unwrap_or_default();
        let path = if path.starts_with(S3) { path.to_owned() } else { absolute(path)? };
        DatasetSource::Files(FileRows { path, csv_as_text: args.csv_as_text })
    };
    let flag = |at: &str| format!("--{}", at.split('/').nth(2).unwrap_or_default());
    let problem = |(at, message): (String, String)| Problem::new(flag(&at), 0, "", message);
    let wrong = |found: Vec<(String, String)>| BadInput(found.into_iter().map(problem).collect());
    source::check(pool, projects::DEFAULT, &source).await?.map_err(wrong)?;
    Ok(source)
}

fn absolute(path: &str) -> anyhow::Result<String> {
    let full = std::fs::canonicalize(path)?;
    let text = full.to_str().ok_or_else(|| BadInput::one("PATH", "the path is no UTF-8 text"))?;
    Ok(text.to_owned())
}

/// Says what came of it. A dataset that failed is not kept: there is nothing in it, and its source may be mended.
async fn report(pool: &PgPool, id: Uuid) -> anyhow::Result<ExitCode> {
    let Some(dataset) = datasets::get(&mut *pool.acquire().await?, id).await? else {
        return Ok(ExitCode::from(FAILED));
    };
    if dataset.summary.state == BuildState::Ready {
        show::show(&dataset);
        return Ok(ExitCode::SUCCESS);
    }
    let DatasetSummary { state, reason, .. } = &dataset.summary;
    let reason = reason.clone().unwrap_or_else(|| format!("the dataset is {state}"));
    // As the option is called here, and not in the API.
    eprintln!("{}", reason.replace("(csv_as_text)", "(--csv-as-text)"));
    let mut tx = pool.begin().await?;
    datasets::delete(&mut tx, id).await?;
    tx.commit().await?;
    Ok(ExitCode::from(FAILED))
}
