//! `groundstate validate`: checks every document of a project, proves every scenario, looks for near-duplicates, and lets
//! models vote on what is sound.

mod json;
mod progress;
mod reviewers;
mod sarif;
mod save;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use domain::Problem;
use domain::document;
use domain::finding::{Grade, LocatedFinding};
use domain::review::Review;
use domain::similarity::{SAME_DESCRIPTION, SAME_GOAL};
use llm::Pool;

use super::BAD_INPUT;
use super::connection::{Connection, ConnectionArgs};
use crate::output::say;
use domain::bad_input::BadInput;
use projects::library::{Files, Library, Limits};

/// Exit code for scenarios that read well and are not sound.
const UNSOUND: u8 = 1;
/// In reports for programs, the rule of what keeps the project from being checked.
const BAD_INPUT_RULE: &str = "bad-input";

#[derive(clap::Args)]
pub struct Validate {
    /// Folder that holds playbooks/, scenarios/, personas/ and judges/
    #[arg(long, default_value = ".")]
    project: PathBuf,
    /// Two descriptions are reported if they are at least this similar (gestalt ratio)
    #[arg(long, value_name = "RATIO", default_value_t = SAME_DESCRIPTION, value_parser = ratio)]
    similar_description: f64,
    /// Two user goals are reported if they are at least this similar (gestalt ratio)
    #[arg(long, value_name = "RATIO", default_value_t = SAME_GOAL, value_parser = ratio)]
    similar_goal: f64,
    /// Format of the findings
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Treat warnings as failures: exit with code 1
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    reviewers: reviewers::Reviewers,
    /// Store the findings in the database
    #[arg(long)]
    save: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// For people, by file
    Text,
    /// For programs
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
}

/// What programs and models found.
struct Outcome {
    library: Library,
    findings: Vec<LocatedFinding>,
    /// Empty if no model was asked.
    reviews: Vec<Review>,
}

pub async fn run(args: Validate) -> anyhow::Result<ExitCode> {
    let format = args.format;
    match (validate(args).await, format) {
        (Err(error), Format::Json) => report_bad_input(error, json::bad_input),
        (Err(error), Format::Sarif) => report_bad_input(error, sarif::bad_input),
        (ended, _) => ended,
    }
}

/// Programs read the problems in the report; people read them on standard error.
fn report_bad_input(
    error: anyhow::Error,
    report: fn(&[Problem]) -> serde_json::Result<String>,
) -> anyhow::Result<ExitCode> {
    let BadInput(problems) = error.downcast()?;
    say!("{}", report(&problems)?);
    Ok(ExitCode::from(BAD_INPUT))
}

async fn validate(args: Validate) -> anyhow::Result<ExitCode> {
    let models = args.reviewers.models(&args.project)?;
    if !args.save {
        return report(&args, &models, None).await;
    }
    // Opened first: without it, votes that cost money would be lost.
    let connection = Connection::open(&args.connection).await?;
    let ended = report(&args, &models, Some(&connection)).await;
    connection.close().await;
    ended
}

async fn report(args: &Validate, models: &[Pool], keep: Option<&Connection>) -> anyhow::Result<ExitCode> {
    let found = find(args, models).await?;
    let failed = reviewers::all_failed(&found.reviews);
    if let (Some(connection), None) = (keep, failed) {
        let models: Vec<String> = models.iter().map(|model| model.name().to_owned()).collect();
        let id = save::save(connection, args, &models, &found).await?;
        eprintln!("validation {id} is stored");
    }
    let text = match args.format {
        Format::Text => text::report(&found, args.reviewers.pass_ratio),
        Format::Json => json::report(&found)?,
        Format::Sarif => sarif::report(&found)?,
    };
    say!("{text}");
    if let Some(reason) = failed {
        eprintln!("--model: no model voted on any scenario: {reason}");
        return Ok(ExitCode::from(BAD_INPUT));
    }
    let tolerated = if args.strict { Grade::Info } else { Grade::Warning };
    let sound = found.findings.iter().all(|found| found.rule.grade() <= tolerated);
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::from(UNSOUND) })
}

async fn find(args: &Validate, models: &[Pool]) -> anyhow::Result<Outcome> {
    let limits = Limits { description: args.similar_description, goal: args.similar_goal };
    let (library, mut findings) =
        Library::examine(Files::read(&args.project)?, &limits, &|_| true).map_err(BadInput)?;
    let reviews = args.reviewers.ask(models, &library, &findings).await?;
    findings.extend(reviews.iter().flat_map(|review| placed(&library, review, args.reviewers.pass_ratio)));
    findings.sort();
    Ok(Outcome { library, findings, reviews })
}

/// A review's findings, each with its place in the scenario's file.
fn placed(library: &Library, review: &Review, pass_ratio: f64) -> Vec<LocatedFinding> {
    let path = library.scenario(&review.scenario).map_or("", |scenario| library.scenario_path(scenario));
    let text = library.files.get(path).map_or("", String::as_str);
    // It was read before.
    let Ok(located) = document::value(path, text) else { return Vec::new() };
    review.findings(pass_ratio).into_iter().map(|finding| finding.within(&located)).collect()
}

pub(super) fn ratio(text: &str) -> Result<f64, String> {
    let ratio: f64 = text.parse().map_err(|_| "expected a number from 0 to 1".to_owned())?;
    if (0.0..=1.0).contains(&ratio) { Ok(ratio) } else { Err("expected a number from 0 to 1".to_owned()) }
}

fn count(findings: &[LocatedFinding], grade: Grade) -> usize {
    findings.iter().filter(|found| found.rule.grade() == grade).count()
}
