//! What the author of a playbook should look at: faults that show only when a tool is called, and what nobody uses.

mod calls;
mod fields;
mod functions;
mod places;
mod rendering;
mod samples;
mod usage;
mod worlds;

use std::sync::Arc;

use domain::document;
use domain::playbook::Playbook as Spec;
use domain::problem::Problem;
use domain::scenario::Scenario;

use super::{Playbook, Sources, compile};
use calls::Scripts;
use worlds::Start;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It cannot be played, or a call would break.
    Error,
    /// It can be played, and is probably not what was meant.
    Warning,
}

/// Where a finding belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// JSON pointer of a field in `playbook.yaml`.
    Field(String),
    /// A function in the file of the playbook's code.
    Function(String),
    /// A line of that file, counted from 1.
    Line(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    pub place: Place,
    pub message: String,
}

impl Finding {
    fn error(place: Place, message: String) -> Self {
        Self { severity: Severity::Error, place, message }
    }

    fn warning(place: Place, message: String) -> Self {
        Self { severity: Severity::Warning, place, message }
    }
}

impl Place {
    /// A field of one of [`Spec::all_tools`].
    fn tool(spec: &Spec, index: usize, field: &str) -> Self {
        Self::Field(format!("{}/{field}", spec.tool_pointer(index)))
    }
}

/// Compiles and checks a playbook, and says where in its files each problem stands. What does not compile is not
/// checked further.
pub fn files(sources: &Sources<'_>, scenarios: &[Arc<Scenario>]) -> Vec<(Severity, Problem)> {
    match compile(sources) {
        Ok(playbook) => LocatedFiles::new(sources, &playbook).problems(|code| findings(&playbook, scenarios, code)),
        Err(problems) => problems.into_iter().map(|problem| (Severity::Error, problem)).collect(),
    }
}

/// Mistakes in a playbook that compiles. Scenarios only give the worlds in which it is tried: mistakes in these worlds are
/// left out, and so are tools and intents that no scenario uses.
pub fn faults(sources: &Sources<'_>, playbook: &Playbook, scenarios: &[Arc<Scenario>]) -> Vec<(Severity, Problem)> {
    LocatedFiles::new(sources, playbook).problems(|code| {
        // The proof of the scenarios reports what breaks in their scripts.
        own_faults(playbook, &worlds::starts(playbook, scenarios), Scripts::ProvedElsewhere, code)
    })
}

/// Everything that is odd about a playbook that compiles, with its own scenarios.
fn findings(playbook: &Playbook, scenarios: &[Arc<Scenario>], code: &str) -> Vec<Finding> {
    let starts = worlds::starts(playbook, scenarios);
    let mut findings = own_faults(playbook, &starts, Scripts::ToBeTried, code);
    findings.extend(worlds::check(playbook, &starts, scenarios.len()));
    findings.extend(usage::check(playbook, scenarios));
    findings
}

fn own_faults(playbook: &Playbook, starts: &[Start], scripts: Scripts, code: &str) -> Vec<Finding> {
    let mut findings = functions::check(playbook);
    // A function that does not take what it is called with breaks whatever it is called with.
    let callable = functions::callable(playbook, &findings);
    findings.extend(worlds::check_base(playbook));
    findings.extend(calls::check(playbook, starts, &callable, scripts));
    findings.extend(rendering::check(playbook, starts));
    findings.extend(places::check(playbook, starts));
    findings.extend(fields::check(playbook, starts, code));
    findings
}

/// The files of a playbook with the places of what stands in them.
struct LocatedFiles<'a> {
    playbook_file: String,
    playbook: Option<document::LocatedValue>,
    code_file: String,
    code: &'a str,
}

impl<'a> LocatedFiles<'a> {
    fn new(sources: &Sources<'a>, playbook: &Playbook) -> Self {
        let file = |name: &str| format!("{}/{name}", sources.folder);
        let (playbook_file, code) = (file("playbook.yaml"), playbook.spec.code.as_deref().unwrap_or_default());
        let text = sources.files.get("playbook.yaml").map_or("", String::as_str);
        Self {
            playbook: document::value(&playbook_file, text).ok(),
            playbook_file,
            code_file: file(code),
            code: sources.files.get(code).map_or("", String::as_str),
        }
    }

    /// Adds the file and line to each finding. `find` gets the text of the code.
    fn problems(&self, find: impl FnOnce(&str) -> Vec<Finding>) -> Vec<(Severity, Problem)> {
        let found = find(self.code);
        let mut problems: Vec<_> = found.iter().map(|finding| (finding.severity, self.problem(finding))).collect();
        problems.sort_by(|(_, a), (_, b)| a.cmp(b));
        problems
    }

    fn problem(&self, finding: &Finding) -> Problem {
        match &finding.place {
            Place::Field(pointer) => match &self.playbook {
                Some(located) => located.problem(pointer, &finding.message),
                None => Problem::new(&self.playbook_file, 0, pointer, &finding.message),
            },
            Place::Line(line) => Problem::new(&self.code_file, *line, "", &finding.message),
            Place::Function(name) => Problem::new(&self.code_file, self.line_of(name), name, &finding.message),
        }
    }

    fn line_of(&self, function: &str) -> usize {
        let opens = |line: &str| {
            let rest = line.strip_prefix("def ").map(str::trim_start).and_then(|rest| rest.strip_prefix(function));
            rest.is_some_and(|rest| rest.trim_start().starts_with('('))
        };
        self.code.lines().position(opens).map_or(0, |index| index + 1)
    }
}

#[cfg(test)]
mod tests;
