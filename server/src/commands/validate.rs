//! `groundstate validate`: checks every document of a project, proves every scenario and looks for near-duplicates.

mod json;
mod sarif;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use domain::finding::{Grade, Reported};

use crate::bad_input::BadInput;
use crate::library::{Files, Library, Limits};
use crate::say::say;

/// Exit code for scenarios that read well and are not sound.
const UNSOUND: u8 = 1;

#[derive(clap::Args)]
pub struct Validate {
    /// Folder that holds playbooks/, scenarios/, personas/ and judges/
    #[arg(long, default_value = ".")]
    project: PathBuf,
    /// From how alike on two descriptions are reported: the gestalt ratio
    #[arg(long, value_name = "RATIO", default_value_t = 0.85, value_parser = ratio)]
    similar_description: f64,
    /// From how alike on two user goals are reported: the gestalt ratio
    #[arg(long, value_name = "RATIO", default_value_t = 0.90, value_parser = ratio)]
    similar_goal: f64,
    /// How findings are written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Warnings fail too: end with exit code 1
    #[arg(long)]
    strict: bool,
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

pub fn run(args: &Validate) -> anyhow::Result<ExitCode> {
    let limits = Limits { description: args.similar_description, goal: args.similar_goal };
    let (library, findings) = Library::examine(Files::read(&args.project)?, &limits).map_err(BadInput)?;
    let report = match args.format {
        Format::Text => text::report(&library, &findings),
        Format::Json => json::report(&library, &findings)?,
        Format::Sarif => sarif::report(&findings)?,
    };
    say!("{report}");
    let tolerated = if args.strict { Grade::Info } else { Grade::Warning };
    let sound = findings.iter().all(|found| found.rule.grade() <= tolerated);
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::from(UNSOUND) })
}

pub(super) fn ratio(text: &str) -> Result<f64, String> {
    let ratio: f64 = text.parse().map_err(|_| "expected a number from 0 to 1".to_owned())?;
    if (0.0..=1.0).contains(&ratio) { Ok(ratio) } else { Err("expected a number from 0 to 1".to_owned()) }
}

fn count(findings: &[Reported], grade: Grade) -> usize {
    findings.iter().filter(|found| found.rule.grade() == grade).count()
}
