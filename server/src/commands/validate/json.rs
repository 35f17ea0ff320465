//! Findings for programs.

use std::collections::BTreeMap;

use domain::Problem;
use domain::finding::{Grade, LocatedFinding};
use domain::review::Review;
use serde::Serialize;
use strum::VariantArray;

use super::{BAD_INPUT_RULE, Outcome, count};

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
    rule: &'static str,
    #[serde(flatten)]
    problem: &'a Problem,
}

pub fn report(found: &Outcome) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&Report {
        playbooks: found.library.playbooks.len(),
        scenarios: found.library.scenarios.len(),
        counts: counts(|grade| count(&found.findings, grade)),
        findings: entries(&found.findings),
        reviews: &found.reviews,
    })
}

/// Nothing was checked: the problems are all that there is to report.
pub fn bad_input(problems: &[Problem]) -> serde_json::Result<String> {
    let entry = |problem| Entry { grade: Grade::Error, rule: BAD_INPUT_RULE, problem };
    serde_json::to_string_pretty(&Report {
        playbooks: 0,
        scenarios: 0,
        counts: counts(|grade| if grade == Grade::Error { problems.len() } else { 0 }),
        findings: problems.iter().map(entry).collect(),
        reviews: &[],
    })
}

fn counts(count: impl Fn(Grade) -> usize) -> BTreeMap<&'static str, usize> {
    Grade::VARIANTS.iter().map(|grade| (grade.into_str(), count(*grade))).collect()
}

pub fn entries(findings: &[LocatedFinding]) -> Vec<Entry<'_>> {
    findings
        .iter()
        .map(|LocatedFinding { rule, problem }| Entry { grade: rule.grade(), rule: rule.into_str(), problem })
        .collect()
}
