//! Ways to break what is shipped, as data (`mutations/mutations.yaml`): the validator finds each one, and says how bad it is.

use std::collections::BTreeSet;

use domain::finding::{Grade, LocatedFinding, Rule};
use projects::library::{Files, Library, Limits};
use serde::Deserialize;

use crate::support::project;

/// One way to break a document.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutation {
    name: String,
    /// The scenario that is looked at, alone: proving all of them for each mutation would take long.
    scenario: String,
    /// The file that is changed; the scenario's if none is named.
    #[serde(default)]
    file: Option<String>,
    /// Texts, each with what stands there instead.
    #[serde(default)]
    edits: Vec<(String, String)>,
    /// Stands instead of all of `expected_outcome`.
    #[serde(default)]
    outcome: Option<String>,
    /// Stands instead of all of `script`.
    #[serde(default)]
    script: Option<String>,
    /// The change is made in a copy, beside the sound scenario.
    #[serde(default)]
    copied: bool,
    /// All that is found.
    #[serde(default)]
    rules: BTreeSet<Rule>,
    /// How bad the worst of it is. None: the document cannot be read.
    #[serde(default)]
    grade: Option<Grade>,
    /// What is said of it.
    says: String,
}

fn mutations() -> Vec<Mutation> {
    let located = domain::document::value("mutations.yaml", include_str!("mutations/mutations.yaml")).unwrap();
    serde_json::from_value(located.value).unwrap()
}

#[test]
fn every_mutation_is_found_and_graded() {
    let all = Files::read(&project()).unwrap();
    let mutations = mutations();
    assert!(mutations.len() >= 30);
    let wrong: Vec<String> = mutations.iter().filter_map(|mutation| missed(mutation, &all)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with what the validator says of a mutation.
fn missed(mutation: &Mutation, all: &Files) -> Option<String> {
    let limits = Limits { description: 0.85, goal: 0.9 };
    let examined = Library::examine(mutation.files(all), &limits, &|_| true);
    let (rules, grade, said): (BTreeSet<Rule>, _, Vec<String>) = match examined {
        Ok((_, findings)) => {
            let rule = |found: &LocatedFinding| found.rule;
            let said = findings.iter().map(|found| found.problem.to_string()).collect();
            (findings.iter().map(rule).collect(), findings.iter().map(|found| found.rule.grade()).max(), said)
        }
        Err(problems) => (BTreeSet::new(), None, problems.iter().map(ToString::to_string).collect()),
    };
    let said = said.join("\n  ");
    let found = rules == mutation.rules && grade == mutation.grade && said.contains(&mutation.says);
    (!found).then(|| format!("{}: {rules:?}, {grade:?}\n  {said}", mutation.name))
}

impl Mutation {
    /// The documents that are needed to look at the scenario, one of them spoilt.
    fn files(&self, all: &Files) -> Files {
        let scenario = format!("scenarios/retail_bank/{}.yaml", self.scenario);
        let mut files = Files::default();
        for (path, text) in ["playbooks/retail_bank", "personas", "judges"].iter().flat_map(|root| all.under(root)) {
            files.insert(path, text.clone());
        }
        files.insert(&scenario, all.get(&scenario).unwrap().clone());
        let changed = self.file.as_deref().unwrap_or(&scenario);
        let text = self.spoil(files.get(changed).unwrap());
        files.insert(if self.copied { "scenarios/retail_bank/copy.yaml" } else { changed }, text);
        files
    }

    fn spoil(&self, text: &str) -> String {
        let mut text = self.edits.iter().fold(text.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{}: the document has no `{from}` any more", self.name);
            text.replacen(from, to, 1)
        });
        if let Some(script) = &self.script {
            text.truncate(text.find("\nscript:").unwrap() + 1);
            text.extend(["script:\n", script]);
        }
        if let Some(outcome) = &self.outcome {
            let (from, to) = (text.find("\nexpected_outcome:").unwrap() + 1, text.find("\nscript:").unwrap());
            text.replace_range(from..to, &format!("expected_outcome:\n{outcome}"));
        }
        text
    }
}
