//! `groundstate validate`: checks every document of a project and proves every scenario.

use std::path::PathBuf;
use std::process::ExitCode;

use domain::Problem;

use crate::library::{Files, Library};

/// Exit code for input that the user must mend.
pub const BAD_INPUT: u8 = 2;

#[derive(clap::Args)]
pub struct Validate {
    /// Folder that holds playbooks/, scenarios/, personas/ and judges/
    #[arg(long, default_value = ".")]
    project: PathBuf,
}

pub fn run(args: &Validate) -> anyhow::Result<ExitCode> {
    match Library::assemble(Files::read(&args.project)?) {
        Ok(library) => {
            println!(
                "{} playbooks, {} scenarios (each proved solvable), {} persona profiles, {} judges: no problem found",
                library.playbooks.len(),
                library.scenarios.len(),
                library.profiles.len(),
                library.judges.len()
            );
            Ok(ExitCode::SUCCESS)
        }
        Err(problems) => Ok(report(&problems)),
    }
}

/// Prints problems where they belong and says so by the exit code.
pub fn report(problems: &[Problem]) -> ExitCode {
    for problem in problems {
        eprintln!("{problem}");
    }
    let noun = if problems.len() == 1 { "problem" } else { "problems" };
    eprintln!("{} {noun} found; nothing was started", problems.len());
    ExitCode::from(BAD_INPUT)
}
