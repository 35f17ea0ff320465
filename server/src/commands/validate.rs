//! `groundstate validate`: checks every document of a project and proves every scenario.

use crate::say::say;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::library::Library;

#[derive(clap::Args)]
pub struct Validate {
    /// Folder that holds playbooks/, scenarios/, personas/ and judges/
    #[arg(long, default_value = ".")]
    project: PathBuf,
}

pub fn run(args: &Validate) -> anyhow::Result<ExitCode> {
    let library = Library::load(&args.project)?;
    say!(
        "{} playbooks, {} scenarios (each proved solvable), {} persona profiles, {} judges: no problem found",
        library.playbooks.len(),
        library.scenarios.len(),
        library.profiles.len(),
        library.judges.len()
    );
    Ok(ExitCode::SUCCESS)
}
