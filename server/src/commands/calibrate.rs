//! `groundstate calibrate`: a judge beside people.

mod report;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use domain::calibration::Ratings;
use domain::calibration::ratings::Format as FileFormat;
use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

use super::ReportFormat;
use super::connection::{Connection, ConnectionArgs};
use super::generate::latest_conversations_or;
use super::judge::judging;
use crate::output::say;
use domain::bad_input::BadInput;
use generation::calibrate::{JudgingScores, insert_ratings, sheet};
use store::judgings::{self, Judging};
use store::projects;

#[derive(clap::Subcommand)]
pub enum CalibrateCommand {
    /// Write a sheet of conversations for people to rate, as CSV
    Sheet(Sheet),
    /// Read people's ratings, and report how far the judge agrees with them
    Report(Report),
}

/// Whose verdicts are looked at.
#[derive(clap::Args)]
struct VerdictSource {
    /// The run; default: the last one
    #[arg(long)]
    run: Option<String>,
    /// A judging's id, or `last`; default: the run's own judging
    #[arg(long)]
    judging: Option<String>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct Sheet {
    #[command(flatten)]
    judged: VerdictSource,
    /// How many conversations, spread evenly over the judge's scores
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    n: u32,
    /// File for the sheet
    #[arg(long, default_value = "ratings.csv")]
    out: PathBuf,
}

#[derive(clap::Args)]
pub struct Report {
    /// File with people's ratings: CSV or JSON
    file: PathBuf,
    #[command(flatten)]
    judged: VerdictSource,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
}

pub async fn run(command: CalibrateCommand) -> anyhow::Result<ExitCode> {
    let connection = match &command {
        CalibrateCommand::Sheet(args) => &args.judged.connection,
        CalibrateCommand::Report(args) => &args.judged.connection,
    };
    let connection = Connection::open(connection).await?;
    let done = match &command {
        CalibrateCommand::Sheet(args) => write_sheet(args, &connection.pool).await,
        CalibrateCommand::Report(args) => read_and_report(args, &connection.pool).await,
    };
    connection.close().await;
    done.map(|()| ExitCode::SUCCESS)
}

async fn write_sheet(args: &Sheet, pool: &PgPool) -> anyhow::Result<()> {
    let judging = judged(&args.judged, pool).await?;
    let sheet = sheet::read(pool, judging.id, args.n as usize).await?;
    if sheet.conversations.is_empty() {
        return Err(nothing_judged().into());
    }
    // What people have filled in is not to be lost.
    if args.out.exists() {
        return Err(BadInput::one("--out", format!("{} exists already", args.out.display())).into());
    }
    std::fs::write(&args.out, sheet.text())
        .map_err(|e| BadInput::one("--out", format!("{}: {e}", args.out.display())))?;
    say!("{} conversations in {}", sheet.conversations.len(), args.out.display());
    say!(
        "Read each at http://127.0.0.1:7878/conversations/ID (groundstate serve) and rate it with whole numbers, 0-10."
    );
    say!("Leave what you do not rate empty. Then run: groundstate calibrate report {}", args.out.display());
    Ok(())
}

async fn read_and_report(args: &Report, pool: &PgPool) -> anyhow::Result<()> {
    let (project, said) = scores_of(&args.judged, pool).await?;
    let ratings = read(args, &said)?;
    let calibrations = said.compared(&ratings, project, "");
    if calibrations.is_empty() {
        let message = "none of the rated conversations has a verdict here; name their run with --run";
        return Err(BadInput::one(args.file.display().to_string(), message).into());
    }
    let mut tx = pool.begin().await?;
    insert_ratings(&mut tx, &ratings, &said, &calibrations).await?;
    let (command, detail) = (
        "groundstate calibrate report",
        json!({"judge": calibrations.iter().map(|one| &one.judge).collect::<Vec<_>>()}),
    );
    super::record(&mut tx, Some(project), command, &said.judging.id.to_string(), detail).await?;
    tx.commit().await?;
    match args.format {
        ReportFormat::Json => {
            let reports: BTreeMap<&str, _> = calibrations.iter().map(|c| (c.judge.as_str(), &c.report)).collect();
            say!("{}", serde_json::to_string_pretty(&reports)?);
        }
        ReportFormat::Text => report::print(&calibrations, &said.judging),
    }
    Ok(())
}

/// The judging that is meant.
async fn judged(args: &VerdictSource, pool: &PgPool) -> anyhow::Result<Judging> {
    Ok(match args.judging.as_deref() {
        Some(text) if text != "last" => judging(pool, "--judging", text).await?,
        wanted => {
            let (run, _, _) =
                generation::stored_runs::load(pool, latest_conversations_or(pool, "--run", args.run.as_deref()).await?)
                    .await?;
            let mut db = pool.acquire().await?;
            let id = if wanted.is_some() { judgings::latest(&mut db, run.id).await? } else { Some(run.own_judging()) };
            judgings::get(&mut db, id.unwrap_or(run.own_judging()))
                .await?
                .ok_or_else(|| BadInput::one("--judging", "the run was never judged"))?
        }
    })
}

/// A judging, all scores that it gave, and the project it belongs to.
async fn scores_of(args: &VerdictSource, pool: &PgPool) -> anyhow::Result<(Uuid, JudgingScores)> {
    let found = judged(args, pool).await?;
    let project = projects::of_judging(&mut *pool.acquire().await?, found.id).await?;
    let project = project.context("a judging of no project")?;
    let said = JudgingScores::load(pool, found).await?;
    if said.is_empty() {
        return Err(nothing_judged().into());
    }
    Ok((project, said))
}

fn nothing_judged() -> BadInput {
    BadInput::one("--run", "none of its conversations has a verdict yet")
}

fn read(args: &Report, said: &JudgingScores) -> anyhow::Result<Ratings> {
    let name = args.file.display().to_string();
    let format = FileFormat::of_file(&name).ok_or_else(|| BadInput::one(&name, "expected a .csv or .json file"))?;
    let text = std::fs::read_to_string(&args.file).map_err(|e| BadInput::one(&name, e.to_string()))?;
    Ok(said.read(&name, &text, format)?)
}
