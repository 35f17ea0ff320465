//! What the documents of a run say of its scenarios.

use std::collections::BTreeMap;

use domain::document;
use domain::scenario::Scenario;

use crate::library::Files;

/// A scenario as filters see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    pub family: String,
    pub tags: Vec<String>,
    pub playbook: String,
}

/// All scenarios of some documents, by id. What cannot be read is left out: another version of the program may have
/// been able to.
pub fn scenarios(files: &Files) -> BTreeMap<String, About> {
    let read = files.under("scenarios").filter_map(|(path, text)| document::parse::<Scenario>(path, text).ok());
    read.map(|scenario| {
        let family = scenario.family().to_owned();
        (scenario.id, About { family, tags: scenario.tags, playbook: scenario.playbook })
    })
    .collect()
}

impl About {
    /// Of a scenario that the documents do not hold.
    pub fn unknown(scenario: &str, playbook: &str) -> Self {
        Self { family: scenario.to_owned(), tags: Vec::new(), playbook: playbook.to_owned() }
    }
}
