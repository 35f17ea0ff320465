//! The shipped scenarios pass the gate as their authors wrote them, at every complexity.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::event::EventKind;
use domain::persona::{Complexity, PersonaModel, Speech};
use domain::playbook::AgentStyle;
use domain::role::Role;
use domain::scenario::Scenario;
use domain::seed::Seed;
use strum::VariantArray;

use crate::playbook::{Playbook, Sources, compile};
use crate::testing::{case, play};
use crate::{Case, InitialWorld};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text files within a folder, by their path in it.
fn files(folder: &Path, below: &str, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name");
        if path.is_dir() {
            files(&path, &format!("{below}{name}/"), found);
        } else {
            found.insert(format!("{below}{name}"), fs::read_to_string(&path).expect("a text"));
        }
    }
}

fn within(folder: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    files(&root().join(folder), "", &mut found);
    found
}

fn refusals(
    playbook: &Arc<Playbook>,
    model: &PersonaModel,
    scenario: &Arc<Scenario>,
    complexity: Complexity,
) -> Vec<String> {
    let plain = case(AgentStyle::FunctionCalling, complexity);
    let played = Case {
        playbook: Arc::clone(playbook),
        scenario: Arc::clone(scenario),
        initial: Arc::new(InitialWorld::from(playbook.initial_world(&scenario.system_facts))),
        // Who walks out would not say the rest.
        speech: Speech { answers: None, ..model.speech(&plain.persona, complexity) },
        faults: scenario.faults.clone(),
        seed: Seed::new(1, &scenario.id, 0),
        ..(*plain).clone()
    };
    let (_, events) = play(Arc::new(played), &[]);
    let refused = events.into_iter().filter_map(|event| match event.kind {
        EventKind::Refused { role: Role::SimulatedUser, reply, reason, .. } => Some(format!("{reply}: {reason}")),
        _ => None,
    });
    refused.map(|why| format!("{} ({complexity}): {why}", scenario.id)).collect()
}

#[test]
fn authors_lines_pass() {
    let model: PersonaModel = domain::parse("model.yaml", &within("personas")["model.yaml"]).expect("a model");
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join("playbooks")).expect("playbooks") {
        let name = entry.expect("an entry").file_name().into_string().expect("a plain name");
        let own = within(&format!("playbooks/{name}"));
        let playbook = Arc::new(compile(&Sources { folder: &name, files: &own }).expect("it compiles"));
        for (file, text) in within(&format!("scenarios/{name}")) {
            let scenario = Arc::new(domain::parse::<Scenario>(&file, &text).expect("a scenario"));
            found.extend(Complexity::VARIANTS.iter().flat_map(|tier| refusals(&playbook, &model, &scenario, *tier)));
        }
    }
    assert_eq!(found, Vec::<String>::new());
}
