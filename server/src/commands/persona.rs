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
    let fitted = fit(&text).map_err(|why| BadInput::one(name, why))?;
    say!("{}", yaml(&fitted));
    Ok(ExitCode::SUCCESS)
}

fn fit(text: &str) -> Result<TraitCorrelation, String> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let cells = |line: &str| line.split(',').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let traits = cells(lines.next().ok_or("expected a line of trait names")?);
    let number = |cell: String| cell.parse::<f64>().map_err(|_| format!("`{cell}` is not a number"));
    let vectors = lines.map(|line| cells(line).into_iter().map(number).collect()).collect::<Result<Vec<_>, _>>()?;
    TraitCorrelation::fit(traits, &vectors)
}

/// One row of the matrix a line, as people read it.
fn yaml(fitted: &TraitCorrelation) -> String {
    let row = |row: &Vec<f64>| format!("\n    - [{}]", row.iter().map(f64::to_string).collect::<Vec<_>>().join(", "));
    let rows: String = fitted.matrix.iter().map(row).collect();
    format!("trait_correlation:\n  traits: [{}]\n  matrix:{rows}", fitted.traits.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_people_becomes_a_matrix_or_a_reason() {
        let fitted = fit("patience, politeness\n0.1,0.2\n0.3,0.4\n\n0.8,0.9\n").map(|fitted| yaml(&fitted));
        insta::assert_snapshot!(fitted.expect("it fits"), @"
        trait_correlation:
          traits: [patience, politeness]
          matrix:
            - [1, 1]
            - [1, 1]
        ");
        insta::assert_snapshot!(fit("patience,politeness\n0.1,high\n").expect_err("no number"), @"`high` is not a number");
        insta::assert_snapshot!(fit("patience\n1,2\n1\n1\n").expect_err("one too many"), @"vector 1 is not one of 1 numbers");
        insta::assert_snapshot!(fit("").expect_err("nothing"), @"expected a line of trait names");
    }
}
