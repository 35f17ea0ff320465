//! A small project: one playbook, two of its scenarios, all personas and judges.

use projects::library::Files;

use super::library;

/// Where a scenario of the small project stands.
pub fn scenario(id: &str) -> String {
    format!("scenarios/retail_bank/{id}.yaml")
}

pub fn few() -> Files {
    let wanted = ["help_card_abroad", "bereavement_handover"].map(scenario);
    let all = library();
    let fits = |path: &str| !path.starts_with("scenarios/") || wanted.iter().any(|wanted| wanted == path);
    all.files.iter().filter(|(path, _)| fits(path)).map(|(path, text)| (path.clone(), text.clone())).collect()
}
