//! `groundstate calibrate`: a judge beside people.

mod report;
mod sheet;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;

use domain::calibration::ratings::{self, Format as FileFormat};
use domain::calibration::{Rating, Ratings, calibrate};
use domain::problem::Problem;
use domain::verdict::Verdict;
use sqlx::PgPool;
use uuid::Uuid;

use super::connection::{Connection, ConnectionArgs};
use super::generate::latest_or;
use super::judge::judging;
use crate::bad_input::BadInput;
use crate::clock;
use crate::say::say;
use crate::store::calibrations::{self, Calibration};
use crate::store::judgings::{self, Judging};
use crate::store::verdicts::{self, Judged};

#[derive(clap::Subcommand)]
pub enum CalibrateCommand {
    /// Write a sheet of conversations for people to rate, as CSV
    Sheet(Sheet),
    /// Read what people rated, and say how far the judge agrees with them
    Report(Report),
}

/// Whose verdicts are looked at.
#[derive(clap::Args)]
struct Whose {
    /// The run; default: the last one
    #[arg(long)]
    run: Option<String>,
    /// A judging's id, or `last`; default: as the run was judged while it was played
    #[arg(long)]
    judging: Option<String>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct Sheet {
    #[command(flatten)]
    judged: Whose,
    /// How many conversations, spread evenly over the judge's scores
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    n: u32,
    /// Where the sheet goes
    #[arg(long, default_value = "ratings.csv")]
    out: PathBuf,
}

#[derive(clap::Args)]
pub struct Report {
    /// What people rated: CSV or JSON
    file: PathBuf,
    #[command(flatten)]
    judged: Whose,
    /// How the report is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs
    Json,
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
    let (_, said) = verdicts_of(&args.judged, pool).await?;
    let chosen = sheet::choose(&said, args.n as usize);
    let text = sheet::text(&chosen, &criteria(&said));
    // What people have filled in is not to be lost.
    if args.out.exists() {
        return Err(BadInput::one("--out", format!("{} is there already", args.out.display())).into());
    }
    std::fs::write(&args.out, text).map_err(|e| BadInput::one("--out", format!("{}: {e}", args.out.display())))?;
    say!("{} conversations in {}", chosen.len(), args.out.display());
    say!(
        "Read each at http://127.0.0.1:7878/conversations/ID (groundstate serve), give whole numbers from 0 to 10, leave"
    );
    say!("empty what you do not rate, and then: groundstate calibrate report {}", args.out.display());
    Ok(())
}

async fn read_and_report(args: &Report, pool: &PgPool) -> anyhow::Result<()> {
    let (judging, said) = verdicts_of(&args.judged, pool).await?;
    let ratings = read(args, &said)?;
    let judges: BTreeSet<&str> = said.values().map(|judged| judged.judge.as_str()).collect();
    let calibrations: Vec<Calibration> =
        judges.into_iter().filter_map(|judge| compared(judge, &ratings, &said, &judging)).collect();
    if calibrations.is_empty() {
        let message = "none of the rated conversations has a verdict here; name their run with --run";
        return Err(BadInput::one(args.file.display().to_string(), message).into());
    }
    store(pool, &ratings, &said, &calibrations).await?;
    match args.format {
        Format::Json => {
            let reports: BTreeMap<&str, _> = calibrations.iter().map(|c| (c.judge.as_str(), &c.report)).collect();
            say!("{}", serde_json::to_string_pretty(&reports)?);
        }
        Format::Text => report::print(&calibrations, &judging),
    }
    Ok(())
}

/// One judge beside people; `None` if nobody rated what it judged.
fn compared(judge: &str, ratings: &Ratings, said: &BTreeMap<Uuid, Judged>, judging: &Judging) -> Option<Calibration> {
    let own: BTreeMap<String, &Judged> =
        said.iter().filter(|(_, judged)| judged.judge == judge).map(|(id, judged)| (id.to_string(), judged)).collect();
    let rows: Vec<Rating> = ratings.rows.iter().filter(|row| own.contains_key(&row.conversation)).cloned().collect();
    let versions: BTreeSet<&str> = rows.iter().map(|row| own[&row.conversation].judge_version.as_str()).collect();
    let verdicts: BTreeMap<String, Verdict> =
        own.iter().filter_map(|(id, judged)| Some((id.clone(), judged.verdict.clone()?))).collect();
    let report = calibrate(&Ratings { rows: rows.clone(), ..ratings.clone() }, &verdicts);
    (report.conversations > 0).then(|| Calibration {
        id: clock::id(),
        judge: judge.to_owned(),
        judge_versions: versions.into_iter().map(str::to_owned).collect(),
        models: calibrations::panel(&judging.models),
        report,
        created_at: clock::now(),
    })
}

/// A judging, and all that it says.
async fn verdicts_of(args: &Whose, pool: &PgPool) -> anyhow::Result<(Judging, BTreeMap<Uuid, Judged>)> {
    let found = match args.judging.as_deref() {
        Some(text) if text != "last" => judging(pool, "--judging", text).await?,
        wanted => {
            let (run, _, _) =
                crate::jobs::active::load(pool, latest_or(pool, "--run", args.run.as_deref()).await?).await?;
            let mut db = pool.acquire().await?;
            let id = if wanted.is_some() { judgings::latest(&mut db, run.id).await? } else { Some(run.judging) };
            judgings::get(&mut db, id.unwrap_or(run.judging))
                .await?
                .ok_or_else(|| BadInput::one("--judging", "the run was never judged"))?
        }
    };
    let said = verdicts::of(&mut *pool.acquire().await?, found.id).await?;
    if said.values().all(|judged| judged.verdict.is_none()) {
        return Err(BadInput::one("--run", "none of its conversations has a verdict yet").into());
    }
    Ok((found, said))
}

/// In the order in which the judge gave them.
fn criteria(said: &BTreeMap<Uuid, Judged>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for verdict in said.values().filter_map(|judged| judged.verdict.as_ref()) {
        let new = verdict.scores.iter().map(|score| score.criterion.clone());
        for name in new {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

fn read(args: &Report, said: &BTreeMap<Uuid, Judged>) -> anyhow::Result<Ratings> {
    let name = args.file.display().to_string();
    let format = FileFormat::of_file(&name).ok_or_else(|| BadInput::one(&name, "expected a file .csv or .json"))?;
    let text = std::fs::read_to_string(&args.file).map_err(|e| BadInput::one(&name, e.to_string()))?;
    let criteria = criteria(said);
    let criteria: Vec<&str> = criteria.iter().map(String::as_str).collect();
    let ratings = ratings::read(&name, &text, format, &criteria).map_err(BadInput)?;
    let strangers = ratings.rows.iter().filter(|row| row.conversation.parse::<Uuid>().is_err());
    let problems: Vec<Problem> = strangers
        .map(|row| Problem::new(&name, 0, "conversation", format!("`{}` is no conversation's id", row.conversation)))
        .collect();
    if problems.is_empty() { Ok(ratings) } else { Err(BadInput(problems).into()) }
}

/// Keeps the ratings of known conversations, and the calibrations.
async fn store(
    pool: &PgPool,
    ratings: &Ratings,
    said: &BTreeMap<Uuid, Judged>,
    all: &[Calibration],
) -> anyhow::Result<()> {
    let now = clock::now();
    let mut tx = pool.begin().await?;
    for row in &ratings.rows {
        if let Some(id) = row.conversation.parse().ok().filter(|id| said.contains_key(id)) {
            calibrations::rate(&mut tx, id, row, now).await?;
        }
    }
    for calibration in all {
        calibrations::insert(&mut tx, calibration).await?;
    }
    tx.commit().await?;
    Ok(())
}
