//! `groundstate author scenarios`.

mod files;
mod progress;
mod report;

use std::cell::RefCell;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use domain::Problem;
use domain::problem::did_you_mean;
use domain::similarity::{SAME_DESCRIPTION, SAME_GOAL};
use llm::{ModelError, Pool};

use super::super::INTERRUPTED;
use super::super::models_file;
use super::super::validate::ratio;
use domain::bad_input::BadInput;
use files::Folder;
use projects::authoring::scenarios::{DraftOutcome, Order, draft_scenarios, first_question};
use projects::library::{Library, Limits};

/// Exit code when fewer scenarios were kept than asked for.
const TOO_FEW: u8 = 1;

/// Each draft is checked and proved as by `validate`, and the findings go back to the model. A scenario is written only
/// if it has no critical findings or errors and is unlike all others. No file is overwritten.
#[derive(clap::Args)]
pub struct Scenarios {
    /// Folder that holds playbooks/, scenarios/, personas/ and judges/
    #[arg(long, default_value = ".")]
    project: PathBuf,
    /// The playbook for which scenarios are drafted
    #[arg(long)]
    playbook: String,
    /// How many scenarios to draft
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    n: u32,
    /// What the scenarios are about, in your words
    #[arg(long, default_value = "")]
    brief: String,
    /// Model that writes them: `NAME@BASE_URL`, `NAME@BASE_URL@KEY_VARIABLE` or a name of models.yaml
    #[arg(long)]
    model: Option<String>,
    /// Only this intent (repeat the flag); default: all of the playbook in turn
    #[arg(long = "intent", value_name = "INTENT")]
    intents: Vec<String>,
    /// Limit of the replies for one draft, corrections included
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=20))]
    attempts: u32,
    /// Drafts that are written at once
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=256))]
    concurrency: u32,
    /// Seed from which all sampling seeds are derived
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    seed: i64,
    /// Folder for the scenarios; default: scenarios/PLAYBOOK of the project
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Sampling temperature, 0 to 2
    #[arg(long, default_value_t = 0.8, value_parser = temperature)]
    temperature: f32,
    /// Longest reply in tokens, reasoning included
    #[arg(long, default_value_t = 8192, value_parser = clap::value_parser!(u32).range(1..))]
    max_tokens: u32,
    /// A draft is dropped if its description is at least this similar to another (gestalt ratio)
    #[arg(long, value_name = "RATIO", default_value_t = SAME_DESCRIPTION, value_parser = ratio)]
    similar_description: f64,
    /// A draft is dropped if its user goal is at least this similar to another (gestalt ratio)
    #[arg(long, value_name = "RATIO", default_value_t = SAME_GOAL, value_parser = ratio)]
    similar_goal: f64,
    /// Show what the model would be asked first, and ask nothing
    #[arg(long)]
    dry_run: bool,
}

pub async fn run(args: Scenarios) -> anyhow::Result<ExitCode> {
    let library = Library::load(&args.project)?;
    let (model, intents) = checked(&args, &library)?;
    let folder = Folder::new(args.out.clone().unwrap_or_else(|| args.project.join("scenarios").join(&args.playbook)))?;
    let order = Order {
        playbook: &args.playbook,
        n: args.n as usize,
        brief: &args.brief,
        intents: &intents,
        attempts: args.attempts,
        concurrency: args.concurrency as usize,
        seed: args.seed,
        temperature: args.temperature,
        max_tokens: args.max_tokens,
        limits: Limits { description: args.similar_description, goal: args.similar_goal },
        taken: folder.names()?,
    };
    match model {
        Some(model) if !args.dry_run => draft(&library, &model, &order, &folder).await,
        _ => {
            report::dry_run(&first_question(&library, &order)?, &order, args.model.as_deref(), &folder);
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The model, if one is to be asked, and the intents. All that is wrong with the flags is said at once.
fn checked(args: &Scenarios, library: &Library) -> anyhow::Result<(Option<Pool>, Vec<String>)> {
    let registry = models_file::read(&args.project)?;
    let mut problems = Vec::new();
    let mut flag = |flag: &str, message: String| problems.push(Problem::new(flag, 0, "", message));
    let known = match library.playbook(&args.playbook) {
        Ok(playbook) => playbook.spec.intents.as_slice(),
        Err(e) => {
            flag("--playbook", e);
            &[]
        }
    };
    for intent in args.intents.iter().filter(|intent| !known.is_empty() && !known.contains(intent)) {
        let hint = did_you_mean(intent, known.iter().map(String::as_str));
        flag("--intent", format!("`{}` has no intent `{intent}`{hint}; known: {}", args.playbook, known.join(", ")));
    }
    let model = match &args.model {
        Some(text) => models_file::pool(&registry, text).map(Some),
        None if args.dry_run => Ok(None),
        None => Err(format!("scenarios are written by a model: {}", models_file::EXPECTED)),
    };
    let model = model.unwrap_or_else(|e| {
        flag("--model", e);
        None
    });
    if !problems.is_empty() {
        bail!(BadInput(problems));
    }
    Ok((model, if args.intents.is_empty() { known.to_vec() } else { args.intents.clone() }))
}

async fn draft(library: &Library, model: &Pool, order: &Order<'_>, folder: &Folder) -> anyhow::Result<ExitCode> {
    let progress = progress::Progress::new(order.n);
    let written = RefCell::new(Vec::new());
    let drafting = draft_scenarios(library, model, order, |told| {
        if let DraftOutcome::Kept(kept) = told {
            folder.write(kept)?;
            written.borrow_mut().push(folder.file(kept));
        }
        progress.settled(matches!(told, DraftOutcome::Kept(_)));
        Ok(())
    });
    let drafted = tokio::select! {
        drafted = drafting => Some(drafted),
        signal = super::super::interrupted() => { signal?; None }
    };
    progress.finish();
    let Some(drafted) = drafted else {
        let written = written.into_inner();
        eprintln!("interrupted; {} of {} scenarios were kept", written.len(), order.n);
        for path in &written {
            eprintln!("  {path}");
        }
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let report = match drafted {
        Ok(report) => report,
        Err(error) => bail!(match error.downcast::<ModelError>() {
            Ok(refusal) => BadInput::one("--model", refusal.to_string()).into(),
            Err(error) => error,
        }),
    };
    report::print(&report, order, folder);
    Ok(if report.kept.len() == order.n { ExitCode::SUCCESS } else { ExitCode::from(TOO_FEW) })
}

pub(super) fn temperature(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(value) if (0.0..=2.0).contains(&value) => Ok(value),
        _ => Err("expected a number from 0 to 2".to_owned()),
    }
}
