//! `groundstate reference`: writes docs/reference.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use crate::output::say;
use crate::reference;

#[derive(clap::Args)]
pub struct ReferenceArgs {
    /// The folder to write to
    #[arg(default_value = "docs/reference")]
    folder: PathBuf,
}

pub fn run(args: &ReferenceArgs, program: &clap::Command) -> anyhow::Result<ExitCode> {
    std::fs::create_dir_all(&args.folder).with_context(|| format!("cannot make {}", args.folder.display()))?;
    for (name, text) in reference::pages(program) {
        let path = args.folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        say!("{}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}
