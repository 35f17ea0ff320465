//! Findings for people, by file.

use std::collections::{HashMap, HashSet};

use domain::finding::{Grade, LocatedFinding};
use strum::VariantArray;

use domain::review::Review;

use super::{Outcome, count};

pub fn report(found: &Outcome, pass_ratio: f64) -> String {
    let Outcome { library, findings, reviews } = found;
    let (once, often) = repeated(findings);
    let files = once.chunk_by(|one, next| one.problem.file == next.problem.file);
    let mut parts: Vec<String> = files.map(|findings| of_file(findings, &often)).collect();
    parts.extend(votes(reviews, pass_ratio));
    parts.push(format!(
        "{} playbooks, {} scenarios{}, {} persona profiles, {} judges: {}",
        library.playbooks.len(),
        library.scenarios.len(),
        if findings.iter().all(|found| found.rule.grade() < Grade::Error || found.rule.is_voted_on()) {
            " (each proved solvable)"
        } else {
            ""
        },
        library.profiles.len(),
        library.judges.len(),
        counts(findings)
    ));
    parts.join("\n\n")
}

/// What the models said together.
fn votes(reviews: &[Review], pass_ratio: f64) -> Option<String> {
    let answers = || reviews.iter().flat_map(|review| &review.votes).flat_map(|vote| &vote.answers);
    let votes: usize = reviews.iter().map(|review| review.votes.len()).sum();
    let missing: usize = reviews.iter().map(|review| review.abstentions.len()).sum();
    (!reviews.is_empty()).then(|| {
        format!(
            "{} scenarios reviewed: {votes} of {} votes, {} of {} answers were yes (a question passes from {pass_ratio} on)",
            reviews.len(),
            votes + missing,
            answers().filter(|answer| answer.passed).count(),
            answers().count()
        )
    })
}

/// One document's fault is found in each that rests on it: the finding in the first file, and in how many it is.
fn repeated(findings: &[LocatedFinding]) -> (Vec<&LocatedFinding>, HashMap<&str, usize>) {
    /// From so many files on, a finding is written once.
    const OFTEN: usize = 4;
    let mut often: HashMap<&str, usize> = HashMap::new();
    for found in findings {
        *often.entry(&found.problem.message).or_default() += 1;
    }
    often.retain(|_, count| *count >= OFTEN);
    let mut said: HashSet<&str> = HashSet::new();
    let mut once = Vec::new();
    for found in findings {
        let message = found.problem.message.as_str();
        if !often.contains_key(message) || said.insert(message) {
            once.push(found);
        }
    }
    (once, often)
}

fn of_file(findings: &[&LocatedFinding], often: &HashMap<&str, usize>) -> String {
    let mut lines: Vec<String> = findings.iter().take(1).map(|found| found.problem.file.clone()).collect();
    lines.extend(findings.iter().map(|LocatedFinding { rule, problem }| {
        let (grade, more) = (rule.grade(), often.get(problem.message.as_str()).map(|count| count - 1));
        let more = more.map(|more| format!(" (and {more} times more)")).unwrap_or_default();
        format!("  {}: {grade}: {}: {} [{rule}]{more}", problem.line, problem.field, problem.message)
    }));
    lines.join("\n")
}

fn counts(findings: &[LocatedFinding]) -> String {
    if findings.is_empty() {
        return "no problem found".to_owned();
    }
    let counted = Grade::VARIANTS.iter().rev().map(|grade| (*grade, count(findings, *grade)));
    let counted = counted.filter(|(_, count)| *count > 0);
    counted.map(|(grade, count)| format!("{count} {grade}{}", plural(grade, count))).collect::<Vec<_>>().join(", ")
}

/// Errors and warnings are things; "critical" and "info" are not.
fn plural(grade: Grade, count: usize) -> &'static str {
    if count > 1 && matches!(grade, Grade::Error | Grade::Warning) { "s" } else { "" }
}
