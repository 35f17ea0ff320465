//! `groundstate workflow run`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use ::rows::order::{self, CheckedOrder, Order};
use ::rows::spec::Source;
use ::rows::{RowRun, WorkflowRows, input, jsonl};
use ::workflow::Workflow;
use anyhow::{Context, bail};
use domain::Problem;
use domain::api::workflows::DatasetRows;
use domain::api::{RunState, RunSummary};
use domain::bad_input::BadInput;
use llm::{EndpointOptions, ModelSpec};
use projects::library::Files;
use runtime::{Disks, ModelClients, Options, Player};
use serde_json::json;
use sqlx::PgPool;
use store::runs;

use super::super::connection::{Connection, ConnectionArgs};
use super::super::generate::{forecast, play, progress::Progress, terms::TermsArgs};
use super::super::interrupts::Interrupts;
use super::super::storage_args::StorageArgs;
use super::super::tools_file::ToolsArgs;
use super::super::{INTERRUPTED, PAUSED, models_file, record};
use super::rows::{Form, PlayedRows};
use super::{Project, find, read, summary};
use crate::output::say;

#[derive(clap::Args)]
pub struct RunArgs {
    /// The workflow
    name: String,
    /// The input rows: a JSONL file of at most 10,000 rows; default: the inputs of the workflow's samples
    #[arg(long, value_name = "FILE", conflicts_with = "dataset")]
    rows: Option<PathBuf>,
    /// The input rows: a dataset of the project, as NAME or NAME@VERSION, of any size
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// Position of the first row of the dataset, from 0
    #[arg(long, value_name = "POSITION", default_value_t = 0, requires = "dataset")]
    first: u64,
    /// Only so many of these rows of the dataset, drawn at random by the seed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), requires = "dataset")]
    sample: Option<u64>,
    /// The index of the project that a `search` of the workflow uses, as INDEX=NAME (repeat the flag); default: the passages beside the
    /// workflow
    #[arg(long = "index", value_name = "INDEX=NAME")]
    indexes: Vec<String>,
    /// Only so many of the rows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    n: Option<u32>,
    /// The column of an input, as INPUT=COLUMN, where their names differ (repeat the flag)
    #[arg(long = "column", value_name = "INPUT=COLUMN")]
    columns: Vec<String>,
    /// Who plays a role, as ROLE=MODEL (repeat the flag). A model is `scripted` (the workflow's stand-in, and the default),
    /// `NAME@BASE_URL`, `NAME@BASE_URL@KEY_VARIABLE`, or a name of models.yaml
    #[arg(long = "model", value_name = "ROLE=MODEL")]
    models: Vec<String>,
    /// Seed from which everything random is derived
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    seed: i64,
    /// File for the accepted rows, as JSONL
    #[arg(long, default_value = "rows.jsonl")]
    out: PathBuf,
    /// What of each row is written
    #[arg(long, value_enum, default_value_t = Form::Rows)]
    form: Form,
    /// Rows that this process plays at the same time; the number of calls to each model adapts automatically
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    concurrency: u32,
    /// How often a row is played again that no model answered
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=100))]
    retries: Option<u32>,
    /// Play only this many rows, print a forecast for the whole run, and pause
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..), conflicts_with = "detach")]
    forecast: Option<i32>,
    /// Wait for whole replies before anything that follows from them is asked
    #[arg(long)]
    no_streaming: bool,
    #[command(flatten)]
    terms: TermsArgs,
    /// Only store the run; a `groundstate serve` or `groundstate play` plays it
    #[arg(long)]
    detach: bool,
    #[command(flatten)]
    project: Project,
    #[command(flatten)]
    tools: ToolsArgs,
    #[command(flatten)]
    storage: StorageArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// What the flags ask for, with the documents.
struct Ordered {
    order: Order,
    workflows: BTreeMap<String, Arc<Workflow>>,
    files: Files,
    indexes: BTreeMap<String, String>,
}

pub async fn run(args: RunArgs) -> anyhow::Result<ExitCode> {
    let ordered = ordered(&args)?;
    let connection = Connection::open(&args.connection).await?;
    let done = play_and_write(&args, &connection, ordered).await;
    connection.close().await;
    done
}

/// Reads documents, rows and flags. Datasets and indexes are looked up later.
fn ordered(args: &RunArgs) -> anyhow::Result<Ordered> {
    let (files, compiled) = read(&args.project.folder)?;
    // What is wrong with it is said first.
    drop(find(compiled.clone(), &args.name)?);
    let (workflows, _) = compiled;
    let mut problems: Vec<Problem> = Vec::new();
    let mut flag = |flag: &str, message: String| problems.push(Problem::new(flag, 0, "", message));
    let models = pairs("--model", &args.models, &mut flag);
    let models: BTreeMap<String, ModelSpec> = models
        .into_iter()
        .filter_map(|(role, text)| match text.parse() {
            Ok(model) => Some((role, model)),
            Err(error) => {
                flag("--model", format!("{role}: {error}"));
                None
            }
        })
        .collect();
    let columns = pairs("--column", &args.columns, &mut flag);
    let indexes = pairs("--index", &args.indexes, &mut flag);
    let registry = models_file::read(&args.project.folder)?;
    let pools = models_file::used(&registry, models.values().map(|model| ("--model", model)), &mut flag);
    let terms = args.terms.terms(&mut flag);
    let mut rows = match &args.rows {
        Some(path) => jsonl::file(path)?,
        None => {
            let samples = workflows.get(&args.name).map(|own| own.spec.samples.clone()).unwrap_or_default();
            samples.into_iter().map(|sample| sample.input).collect()
        }
    };
    rows.truncate(args.n.map_or(usize::MAX, |n| n as usize));
    if !problems.is_empty() {
        bail!(BadInput(problems));
    }
    let order = Order {
        project: terms.project,
        workflow: args.name.clone(),
        source: Source::Rows(rows),
        columns,
        models,
        indexes: BTreeMap::new(),
        tools: args.tools.read()?,
        pools,
        seed: args.seed,
        priority: terms.priority,
        max_in_flight: terms.max_in_flight,
        budget: terms.budget,
        retries: args.retries,
        forecast: args.forecast,
        streaming: !args.no_streaming,
        paused: false,
        is_answer: false,
    };
    let ordered = Ordered { order, workflows, files, indexes };
    if args.dataset.is_none() && ordered.indexes.is_empty() {
        drop(ordered.check()?);
    }
    Ok(ordered)
}

impl Ordered {
    fn check(&self) -> anyhow::Result<CheckedOrder> {
        let wrong = |(field, message): (&'static str, String)| {
            let flag = match field {
                "workflow" => "NAME",
                "models" => "--model",
                "columns" => "--column",
                "indexes" => "--index",
                "tools" => "--tools",
                "forecast" => "--forecast",
                _ => "--rows",
            };
            Problem::new(flag, 0, "", message)
        };
        let checked = order::check(self.order.clone(), &self.workflows, &self.files)
            .map_err(|found| BadInput(found.into_iter().map(wrong).collect()))?;
        // Keys are looked for before anything is stored.
        ::rows::models(&checked.spec, &ModelClients::new(EndpointOptions::default()))
            .map_err(|error| BadInput::one("--model", error.to_string()))?;
        Ok(checked)
    }

    /// With the datasets and indexes of the database.
    async fn look_up(&mut self, args: &RunArgs, pool: &PgPool) -> anyhow::Result<()> {
        let (mut db, project) = (pool.acquire().await?, self.order.project);
        if let Some(text) = &args.dataset {
            let wanted = dataset_rows(text, args).map_err(|message| BadInput::one("--dataset", message))?;
            let read_by = (self.workflows.get(&self.order.workflow).map(|own| &**own), &self.order.columns);
            let found = input::of_dataset(&mut db, project, &wanted, read_by, args.seed).await?;
            self.order.source = found.map_err(|message| BadInput::one("--dataset", message))?;
        }
        let found = input::indexes(&mut db, project, &self.indexes).await?;
        self.order.indexes = found.map_err(|message| BadInput::one("--index", message))?;
        Ok(())
    }
}

/// `NAME` or `NAME@VERSION`
fn dataset_rows(text: &str, args: &RunArgs) -> Result<DatasetRows, String> {
    let (name, version) = match text.split_once('@') {
        Some((name, version)) => {
            let number =
                version.parse().map_err(|_| format!("`{version}` is no version; write NAME@VERSION, such as {name}@1"));
            (name, Some(number?))
        }
        None => (text, None),
    };
    let (name, first, count) = (name.to_owned(), Some(args.first), args.n.map(u64::from));
    Ok(DatasetRows { name, version, first, count, sample: args.sample, seed: None })
}

fn pairs(name: &str, texts: &[String], flag: &mut impl FnMut(&str, String)) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for text in texts {
        match text.split_once('=') {
            Some((key, value)) => drop(found.insert(key.to_owned(), value.to_owned())),
            None => flag(name, format!("`{text}` is not NAME=VALUE")),
        }
    }
    found
}

async fn play_and_write(args: &RunArgs, connection: &Connection, mut ordered: Ordered) -> anyhow::Result<ExitCode> {
    let pool = &connection.pool;
    ordered.look_up(args, pool).await?;
    let checked = ordered.check()?;
    let resources = args.storage.row_resources(&args.connection, ordered.order.tools.clone())?;
    let _following = runtime::follow(pool, &resources.clients);
    let (workflow, spec) = (Arc::clone(&checked.workflow), checked.spec.clone());
    let mut tx = pool.begin().await?;
    let run = order::insert(&mut tx, checked).await?;
    record(&mut tx, Some(run.project), "groundstate workflow run", &run.id.to_string(), json!({})).await?;
    tx.commit().await?;
    if args.detach {
        say!("run {} is stored; a `groundstate serve` or `groundstate play` will play it", run.id);
        return Ok(ExitCode::SUCCESS);
    }
    let kind = WorkflowRows::new(pool, workflow, spec, &resources).await?;
    let run = Arc::new(RowRun::new(pool, run, kind));
    let mut interrupts = Interrupts::listen()?;
    let before = runs::summary(&mut *pool.acquire().await?, &run.control.run).await?;
    let progress = Progress::new(&before, "rows");
    let options = Options {
        concurrency: args.concurrency as usize,
        only: Some(run.control.run.id),
        drain: Duration::from_secs(5),
        disks: Disks::of(connection.folder().map(Path::to_owned).into_iter().collect()),
        ..Options::default()
    };
    let player: Player<Arc<RowRun>> = Player::new(pool.clone(), resources, options);
    player.know(Arc::clone(&run));
    let id = run.control.run.id;
    let hint = || format!("`groundstate runs resume {id}` goes on with it");
    let interrupted = play(&player, &run.control, &progress, &mut interrupts).await.with_context(hint)?;
    let seconds = progress.finish();
    if interrupted {
        eprintln!("interrupted; what was played is kept. {}", hint());
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let mut file =
        datasets::export::private::file(&args.out).with_context(|| format!("cannot write {}", args.out.display()))?;
    let (workflow, inputs) = (&*run.kind.workflow, &run.kind.rows);
    let written =
        PlayedRows { pool, run: &run.control.run, workflow, inputs }.write(args.form, false, &mut file).await?;
    let after = runs::summary(&mut *pool.acquire().await?, &run.control.run).await?;
    summarise(&after, seconds);
    for line in summary::lines(&after, &::rows::summary::of(pool, &run.control.run).await?) {
        say!("{line}");
    }
    say!("written      {written} lines in {}", args.out.display());
    Ok(match after.state {
        RunState::Paused if args.forecast.is_some() => {
            forecast::print(&after, "row", seconds, &hint());
            ExitCode::SUCCESS
        }
        RunState::Paused | RunState::Cancelled => {
            say!("paused       {}. {}", after.paused_because.as_deref().unwrap_or("somebody paused it"), hint());
            ExitCode::from(PAUSED)
        }
        RunState::Running | RunState::Finished => ExitCode::SUCCESS,
    })
}

fn summarise(run: &RunSummary, seconds: f64) {
    say!("run          {}", run.id);
    say!("rows         {} of {} in {seconds:.1} s", run.finished, run.planned);
    say!("accepted     {}", run.accepted);
    for (ended, count) in &run.failures {
        say!("  {ended:20} {count}");
    }
    for usage in &run.usage {
        say!("{:12} {} requests to {}", usage.role, usage.calls, usage.model);
    }
}
