//! `groundstate workflow rows`

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use ::rows::{InputRows, output, plays_rows, stored};
use anyhow::Context;
use domain::api::workflows::OutputRow;
use domain::bad_input::BadInput;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::runs::{self, Run};
use workflow::Workflow;

use super::super::connection::{Connection, ConnectionArgs};
use super::super::generate::run_id;
use super::super::storage_args::StorageArgs;
use super::summary;
use crate::output::say;

/// Rows that are read at a time.
const PAGE: i32 = 500;

#[derive(clap::Args)]
pub struct RowsArgs {
    /// The run
    run: String,
    /// File for the rows, as JSONL; default: standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// What of each row is written
    #[arg(long, value_enum, default_value_t = Form::Rows)]
    form: Form,
    /// Rows that were not accepted, too
    #[arg(long)]
    all: bool,
    /// In place of the rows: what they came to in figures, and where their time went
    #[arg(long, conflicts_with_all = ["out", "form", "all"])]
    summary: bool,
    #[command(flatten)]
    storage: StorageArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// Position, input, output, metrics, and how the row ended
    Rows,
    /// Only the output
    Outputs,
    /// A conversation for fine-tuning a line, `{"messages": [...]}`, as the workflow's `messages` say
    Messages,
    /// A preference pair a line, `{"messages", "chosen", "rejected"}`, as the workflow's `pairs` say
    Pairs,
}

pub async fn run(args: RowsArgs) -> anyhow::Result<ExitCode> {
    let connection = Connection::open(&args.connection).await?;
    let done = write(&connection.pool, &args).await;
    connection.close().await;
    done
}

async fn write(pool: &PgPool, args: &RowsArgs) -> anyhow::Result<ExitCode> {
    let id = run_id(pool, "RUN", &args.run).await?;
    let run = runs::get(&mut *pool.acquire().await?, id).await?.with_context(|| format!("there is no run {id}"))?;
    if !plays_rows(&run.kind) {
        let message = format!("{id} is a run of conversations; `groundstate export` writes its rows");
        return Err(BadInput::one("RUN", message).into());
    }
    if args.summary {
        return summarise(pool, &run).await;
    }
    let spec = stored::spec(&run)?;
    let workflow = stored::workflow(pool, &run, &spec.workflow).await?;
    let objects = args.storage.objects(&args.connection)?;
    let inputs = match args.form {
        Form::Rows | Form::Outputs => InputRows::open_for_reading(pool, Some(&objects), &spec).await?,
        Form::Messages | Form::Pairs => InputRows::open(pool, Some(&objects), &spec).await?,
    };
    let played = PlayedRows { pool, run: &run, workflow: &workflow, inputs: &inputs };
    match &args.out {
        Some(path) => {
            let mut file =
                datasets::export::private::file(path).with_context(|| format!("cannot write {}", path.display()))?;
            let written = played.write(args.form, args.all, &mut file).await?;
            say!("{written} lines in {}", path.display());
        }
        None => drop(played.write(args.form, args.all, &mut std::io::stdout()).await?),
    }
    Ok(ExitCode::SUCCESS)
}

async fn summarise(pool: &PgPool, run: &Run) -> anyhow::Result<ExitCode> {
    let known = runs::summary(&mut *pool.acquire().await?, run).await?;
    say!("run          {}", run.id);
    say!("rows         {} of {}", known.finished, known.planned);
    say!("accepted     {}", known.accepted);
    for line in summary::lines(&known, &::rows::summary::of(pool, run).await?) {
        say!("{line}");
    }
    Ok(ExitCode::SUCCESS)
}

/// The rows of a run, with what is needed to write them.
pub struct PlayedRows<'a> {
    pub pool: &'a PgPool,
    pub run: &'a Run,
    pub workflow: &'a Workflow,
    pub inputs: &'a InputRows,
}

impl PlayedRows<'_> {
    /// How many lines were written. Rows of which nothing can be made are left out, and standard error says so.
    pub async fn write(&self, form: Form, all: bool, out: &mut (impl Write + Send)) -> anyhow::Result<u64> {
        let (mut first, planned, mut written) = (0, self.run.planned, 0);
        let (mut left_out, mut first_reason) = (0_u64, None);
        while first < planned {
            let last = planned.min(first.saturating_add(PAGE)) - 1;
            let rows = output::rows(self.pool, self.run, self.inputs, first..=last).await?.into_iter();
            for row in rows.filter(|row| row.accepted || (all && form == Form::Rows)) {
                let lines = self.lines(form, &row).unwrap_or_else(|reason| {
                    left_out += 1;
                    first_reason.get_or_insert_with(|| format!("row {}: {reason}", row.position));
                    Vec::new()
                });
                for line in lines {
                    serde_json::to_writer(&mut *out, &line)?;
                    out.write_all(b"\n")?;
                    written += 1;
                }
            }
            first = last + 1;
        }
        out.flush()?;
        if let Some(reason) = first_reason {
            match left_out {
                1 => eprintln!("1 row is left out: {reason}"),
                _ => eprintln!("{left_out} rows are left out; the first, {reason}"),
            }
        }
        Ok(written)
    }

    fn lines(&self, form: Form, row: &OutputRow) -> Result<Vec<Value>, String> {
        let output = || row.output.as_ref().ok_or("it has no output");
        let mut lines = match form {
            Form::Rows => return Ok(vec![json!(row)]),
            Form::Outputs => return Ok(vec![json!(output()?)]),
            Form::Messages => {
                let conversations = self.workflow.messages_of(&row.input, output()?)?;
                conversations.into_iter().map(|messages| json!({"messages": messages})).collect()
            }
            Form::Pairs => self.workflow.pairs_of(&row.input, output()?)?,
        };
        // Training on a stand-in's words must not happen unnoticed.
        if !row.stand_ins.is_empty() {
            for line in lines.iter_mut().filter_map(Value::as_object_mut) {
                line.entry("stand_ins").or_insert_with(|| json!(row.stand_ins));
            }
        }
        Ok(lines)
    }
}
