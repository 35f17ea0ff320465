//! Findings for programs.

use std::collections::BTreeMap;

use domain::Problem;
use domain::finding::{Grade, Reported, Rule};
use serde::Serialize;

use super::count;
use crate::library::Library;

#[derive(Serialize)]
struct Report<'a> {
    playbooks: usize,
    scenarios: usize,
    counts: BTreeMap<&'static str, usize>,
    findings: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    grade: Grade,
    rule: Rule,
    #[serde(flatten)]
    problem: &'a Problem,
}

pub fn report(library: &Library, findings: &[Reported]) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&Report {
        playbooks: library.playbooks.len(),
        scenarios: library.scenarios.len(),
        counts: Grade::ALL.iter().map(|grade| (grade.as_str(), count(findings, *grade))).collect(),
        findings: findings
            .iter()
            .map(|Reported { rule, problem }| Entry { grade: rule.grade(), rule: *rule, problem })
            .collect(),
    })
}
