//! Findings for people, by file.

use domain::finding::{Grade, Reported};

use super::count;
use crate::library::Library;

pub fn report(library: &Library, findings: &[Reported]) -> String {
    let files = findings.chunk_by(|one, next| one.problem.file == next.problem.file);
    let mut parts: Vec<String> = files.map(of_file).collect();
    parts.push(format!(
        "{} playbooks, {} scenarios{}, {} persona profiles, {} judges: {}",
        library.playbooks.len(),
        library.scenarios.len(),
        if findings.iter().all(|found| found.rule.grade() < Grade::Error) { " (each proved solvable)" } else { "" },
        library.profiles.len(),
        library.judges.len(),
        counts(findings)
    ));
    parts.join("\n\n")
}

fn of_file(findings: &[Reported]) -> String {
    let mut lines: Vec<String> = findings.iter().take(1).map(|found| found.problem.file.clone()).collect();
    lines.extend(findings.iter().map(|Reported { rule, problem }| {
        let (grade, name) = (rule.grade(), rule.as_str());
        format!("  {}: {grade}: {}: {} [{name}]", problem.line, problem.field, problem.message)
    }));
    lines.join("\n")
}

fn counts(findings: &[Reported]) -> String {
    if findings.is_empty() {
        return "no problem found".to_owned();
    }
    let counted = Grade::ALL.map(|grade| (grade, count(findings, grade)));
    let counted = counted.iter().filter(|(_, count)| *count > 0);
    counted.map(|(grade, count)| format!("{count} {grade}{}", plural(*grade, *count))).collect::<Vec<_>>().join(", ")
}

/// Errors and warnings are things; "critical" and "info" are not.
fn plural(grade: Grade, count: usize) -> &'static str {
    if count > 1 && matches!(grade, Grade::Error | Grade::Warning) { "s" } else { "" }
}
