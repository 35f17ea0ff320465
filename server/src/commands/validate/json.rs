//! Findings for programs.

use std::collections::BTreeMap;

use domain::Problem;
use domain::finding::{Grade, LocatedFinding, Rule};
use domain::review::Review;
use serde::Serialize;
use strum::VariantArray;

use super::{Outcome, count};

#[derive(Serialize)]
struct Report<'a> {
    playbooks: usize,
    scenarios: usize,
    counts: BTreeMap<&'static str, usize>,
    findings: Vec<Entry<'a>>,
    /// What each model answered.
    #[serde(skip_serializing_if = "<[Review]>::is_empty")]
    reviews: &'a [Review],
}

#[derive(Serialize)]
pub struct Entry<'a> {
    grade: Grade,
    rule: Rule,
    #[serde(flatten)]
    problem: &'a Problem,
}

pub fn report(found: &Outcome) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&Report {
        playbooks: found.library.playbooks.len(),
        scenarios: found.library.scenarios.len(),
        counts: Grade::VARIANTS.iter().rev().map(|grade| (grade.into_str(), count(&found.findings, *grade))).collect(),
        findings: entries(&found.findings),
        reviews: &found.reviews,
    })
}

pub fn entries(findings: &[LocatedFinding]) -> Vec<Entry<'_>> {
    findings
        .iter()
        .map(|LocatedFinding { rule, problem }| Entry { grade: rule.grade(), rule: *rule, problem })
        .collect()
}
