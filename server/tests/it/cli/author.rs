//! `groundstate author`: what models draft. Bad input first.

mod scenarios;
mod subagent;

use super::Project;

/// The rent, to a landlord who is known.
const RENT: &str = "scenarios/retail_bank/transfer_rent_to_payee.yaml";

/// Two scenarios; proving all of them takes a while.
fn small_project() -> Project {
    let project = Project::new();
    for entry in std::fs::read_dir(project.join("scenarios/retail_bank")).unwrap() {
        let path = entry.unwrap().path();
        if path != project.join(RENT) && !path.ends_with("help_card_abroad.yaml") {
            std::fs::remove_file(path).unwrap();
        }
    }
    project
}
