//! Findings for people, by file.

use domain::finding::{Grade, Reported};
use strum::VariantArray;

use domain::review::Review;

use super::{Outcome, count};

pub fn report(found: &Outcome, pass_ratio: f64) -> String {
    let Outcome { library, findings, reviews } = found;
    let files = findings.chunk_by(|one, next| one.problem.file == next.problem.file);
    let mut parts: Vec<String> = files.map(of_file).collect();
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

fn of_file(findings: &[Reported]) -> String {
    let mut lines: Vec<String> = findings.iter().take(1).map(|found| found.problem.file.clone()).collect();
    lines.extend(findings.iter().map(|Reported { rule, problem }| {
        let grade = rule.grade();
        format!("  {}: {grade}: {}: {} [{rule}]", problem.line, problem.field, problem.message)
    }));
    lines.join("\n")
}

fn counts(findings: &[Reported]) -> String {
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
