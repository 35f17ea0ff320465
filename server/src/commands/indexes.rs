//! `groundstate indexes`: search indexes over datasets.

use std::process::ExitCode;

use datasets::search::IndexCache;
use domain::api::{BuildState, IndexSummary};
use domain::bad_input::BadInput;
use domain::corpus::name_problem;
use domain::dataset::IndexColumns;
use runtime::jobs::Handlers;
use sandbox::Sandbox;
use serde_json::json;
use sqlx::PgPool;
use store::indexes::{self, Index, NewIndexRow};
use store::objects::Objects;
use store::{cleanup, clock, projects};
use tracing::warn;
use uuid::Uuid;

use super::connection::{Connection, ConnectionArgs, NewestArgs};
use super::job_progress::{self, Seen};
use super::storage_args::StorageArgs;
use super::{INTERRUPTED, record};
use crate::jobs::with_objects;
use crate::output::say;

/// Exit code if the index could not be built.
const FAILED: u8 = 1;
/// Characters of a text that are shown.
const SHOWN: usize = 200;

#[derive(clap::Subcommand)]
pub enum IndexesCommand {
    /// Build a search index over a dataset
    Add(Add),
    /// List the newest indexes
    List(NewestArgs),
    /// Print the documents that fit words best
    Search(Search),
    /// Delete an index
    Delete(IndexName),
}

#[derive(clap::Args)]
pub struct Add {
    /// Its name: 1 to 64 lower-case letters, digits, `_`, `-` and `.`
    name: String,
    /// The dataset: its name, NAME@VERSION or the id of a version
    #[arg(long)]
    dataset: String,
    /// Column that names a document [default: id; without such a column, the position of the row]
    #[arg(long, value_name = "COLUMN", default_value = "id", hide_default_value = true)]
    id: String,
    /// Column with titles, which are searched, too [default: title, if there is one]
    #[arg(long, value_name = "COLUMN", default_value = "title", hide_default_value = true)]
    title: String,
    /// Column with the texts that are searched
    #[arg(long, value_name = "COLUMN", default_value = "text")]
    text: String,
    /// Column with addresses, which are shown [default: url, if there is one]
    #[arg(long, value_name = "COLUMN", default_value = "url", hide_default_value = true)]
    url: String,
    #[command(flatten)]
    storage: StorageArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct Search {
    /// The index' name or id
    index: String,
    /// Words; every word is a word, there is no syntax
    query: String,
    /// How many documents
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    k: u32,
    /// Print each document as JSON, in a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct IndexName {
    /// The index' name or id
    index: String,
    #[command(flatten)]
    storage: StorageArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub async fn run(command: IndexesCommand) -> anyhow::Result<ExitCode> {
    let connection = match &command {
        IndexesCommand::Add(args) => &args.connection,
        IndexesCommand::List(args) => &args.connection,
        IndexesCommand::Search(args) => &args.connection,
        IndexesCommand::Delete(args) => &args.connection,
    };
    let connection = Connection::open(connection).await?;
    let pool = &connection.pool;
    let done = match &command {
        IndexesCommand::Add(args) => add(pool, args).await,
        IndexesCommand::List(args) => list(pool, args.limit).await,
        IndexesCommand::Search(args) => search(pool, args).await,
        IndexesCommand::Delete(args) => delete(pool, args).await,
    };
    connection.close().await;
    done
}

async fn add(pool: &PgPool, args: &Add) -> anyhow::Result<ExitCode> {
    let name = args.name.as_str();
    if let Some(problem) = name_problem(name) {
        return Err(BadInput::one("NAME", problem).into());
    }
    let dataset = super::datasets::named(pool, &args.dataset).await?;
    if dataset.contents.is_none() {
        return Err(BadInput::one("--dataset", format!("it is {}", dataset.summary.state)).into());
    }
    let [id, title, text, url] = [&args.id, &args.title, &args.text, &args.url].map(Clone::clone);
    let columns = IndexColumns { id, title, text, url };
    let (id, job) = (clock::id(), clock::id());
    let create = async |tx: &mut sqlx::PgConnection| {
        let (project, created_at) = (dataset.project, clock::now());
        let row =
            NewIndexRow { id, job, project, name, dataset: dataset.id, columns: &columns, created_by: "", created_at };
        if !indexes::insert(&mut *tx, &row).await? {
            return Err(
                BadInput::one("NAME", format!("there is an index `{name}` already; choose another name")).into()
            );
        }
        let detail = json!({"name": name, "dataset": dataset.id});
        record(tx, Some(project), "groundstate indexes add", &id.to_string(), detail).await
    };
    let objects = args.storage.objects(&args.connection)?;
    let files = args.storage.files(&args.connection);
    let handlers = with_objects(Handlers::default(), &objects, &files, &Sandbox::InProcess);
    match job_progress::create_and_wait(pool, job, create, &handlers).await? {
        Seen::Ended => report(pool, id).await,
        Seen::Interrupted => {
            eprintln!("interrupted; the index is cancelled");
            Ok(ExitCode::from(INTERRUPTED))
        }
    }
}

/// Says what came of it. An index that failed is not kept: there is nothing in it.
async fn report(pool: &PgPool, id: Uuid) -> anyhow::Result<ExitCode> {
    let Some(index) = indexes::get(&mut *pool.acquire().await?, id).await? else {
        return Ok(ExitCode::from(FAILED));
    };
    let IndexSummary { name, state, reason, documents, dataset_name, dataset_version, .. } = index.summary;
    if state == BuildState::Ready {
        say!("index {name}: {} documents of {dataset_name}@{dataset_version}", documents.unwrap_or_default());
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("{}", reason.unwrap_or_else(|| format!("the index is {state}")));
    let mut tx = pool.begin().await?;
    indexes::delete(&mut tx, id).await?;
    tx.commit().await?;
    Ok(ExitCode::from(FAILED))
}

async fn list(pool: &PgPool, limit: i64) -> anyhow::Result<ExitCode> {
    say!("index                                 state       documents        bytes  name of dataset");
    for index in indexes::list(&mut *pool.acquire().await?, projects::DEFAULT, None, limit).await? {
        let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
        let (state, documents, bytes) = (index.state.into_str(), number(index.documents), number(index.bytes));
        let (name, dataset, version) = (index.name, index.dataset_name, index.dataset_version);
        say!("{}  {state:<9} {documents:>11} {bytes:>12}  {name} of {dataset}@{version}", index.id);
    }
    Ok(ExitCode::SUCCESS)
}

async fn search(pool: &PgPool, args: &Search) -> anyhow::Result<ExitCode> {
    let index = named(pool, &args.index).await?;
    let cache = IndexCache::new(args.storage.objects(&args.connection)?, cache_folder(&args.storage, &args.connection));
    let state = index.summary.state;
    let open = cache.open(&index).await?;
    let open = open.ok_or_else(|| BadInput::one("INDEX", format!("it is {state}, so it cannot be searched")))?;
    for hit in open.search(&args.query, args.k as usize)? {
        if args.json {
            say!("{}", serde_json::to_string(&hit)?);
            continue;
        }
        say!("{:8.4}  {}  {}", hit.score, hit.id, hit.title);
        let text: String = hit.text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(SHOWN).collect();
        say!("          {text}");
        if !hit.url.is_empty() {
            say!("          {}", hit.url);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Where the files of indexes are copied to, by servers of this machine as well.
fn cache_folder(storage: &StorageArgs, connection: &ConnectionArgs) -> std::path::PathBuf {
    storage.files(connection).join("indexes")
}

async fn delete(pool: &PgPool, args: &IndexName) -> anyhow::Result<ExitCode> {
    let objects: Objects = args.storage.objects(&args.connection)?;
    let index = named(pool, &args.index).await?;
    let mut tx = pool.begin().await?;
    indexes::delete(&mut tx, index.id).await?;
    let detail = json!({"name": index.summary.name});
    record(&mut tx, Some(index.project), "groundstate indexes delete", &index.id.to_string(), detail).await?;
    tx.commit().await?;
    if let Err(error) = cleanup::sweep(&mut *pool.acquire().await?, &objects).await {
        warn!(%error, "the files of the index are deleted later");
    }
    say!("the index {} is deleted", index.summary.name);
    Ok(ExitCode::SUCCESS)
}

/// The index that a name or an id means.
async fn named(pool: &PgPool, text: &str) -> anyhow::Result<Index> {
    let mut db = pool.acquire().await?;
    let id = match text.parse() {
        Ok(id) => Some(id),
        Err(_) => indexes::named(&mut db, projects::DEFAULT, text).await?,
    };
    let found = match id {
        Some(id) => indexes::get(&mut db, id).await?,
        None => None,
    };
    let missing = || BadInput::one("INDEX", format!("there is no index `{text}`; see: groundstate indexes list"));
    found.ok_or_else(|| missing().into())
}
