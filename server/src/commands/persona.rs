//! `groundstate persona`: what the author of personas works with.

use std::path::PathBuf;
use std::process::ExitCode;

use domain::persona::TraitCorrelation;

use crate::output::say;
use domain::bad_input::BadInput;

#[derive(clap::Subcommand)]
pub enum PersonaCommand {
    /// Fit the correlations of traits to observed people, as `trait_correlation` for personas/model.yaml
    Fit(Fit),
}

#[derive(clap::Args)]
pub struct Fit {
    /// CSV file: a line of trait names, then one line of numbers for each person
    file: PathBuf,
}

pub fn run(PersonaCommand::Fit(args): &PersonaCommand) -> anyhow::Result<ExitCode> {
    let name = args.file.display().to_string();
    let text = std::fs::read_to_string(&args.file).map_err(|e| BadInput::one(&name, e.to_string()))?;
    let fitted = TraitCorrelation::fit_csv(&text).map_err(|why| BadInput::one(name, why))?;
    say!("{}", fitted.to_yaml());
    Ok(ExitCode::SUCCESS)
}
