//! `groundstate playbook check`: what compiles and is still wrong, and what nobody uses.

use crate::output::say;
use std::process::ExitCode;

use domain::problem::{Problem, unknown};
use engine::playbook::Sources;
use engine::playbook::check::{self, Severity};
use serde::Serialize;

use super::super::{BAD_INPUT, ReportFormat};
use super::Project;
use super::paint::Paint;
use domain::bad_input::BadInput;
use projects::library::{Files, readable_scenarios};

#[derive(clap::Args)]
pub struct Check {
    /// Only this playbook; default: all of the project
    name: Option<String>,
    #[command(flatten)]
    project: Project,
    /// Treat warnings as errors: exit with code 2
    #[arg(long)]
    strict: bool,
    /// How findings are written
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
}

#[derive(Serialize)]
struct Report<'a> {
    playbooks: usize,
    errors: usize,
    warnings: usize,
    findings: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    severity: &'static str,
    #[serde(flatten)]
    problem: &'a Problem,
}

pub fn run(args: &Check) -> anyhow::Result<ExitCode> {
    let (found, playbooks) = match (find(args), args.format) {
        (Err(error), ReportFormat::Json) => {
            let BadInput(problems) = error.downcast()?;
            (problems.into_iter().map(|problem| (Severity::Error, problem)).collect(), 0)
        }
        (checked, _) => checked?,
    };
    match args.format {
        ReportFormat::Text => print(&found, playbooks),
        ReportFormat::Json => say!("{}", json(&found, playbooks)?),
    }
    let bad = found.iter().any(|(severity, _)| *severity == Severity::Error || args.strict);
    Ok(if bad { ExitCode::from(BAD_INPUT) } else { ExitCode::SUCCESS })
}

/// What is found, and how many playbooks were checked.
fn find(args: &Check) -> anyhow::Result<(Vec<(Severity, Problem)>, usize)> {
    let files = Files::read(&args.project.folder)?;
    let all = files.folders("playbooks");
    let names = match &args.name {
        None => all,
        Some(name) if all.contains(name) => vec![name.clone()],
        Some(name) => return Err(BadInput::one("NAME", unknown("playbook", name, all.iter())).into()),
    };
    let mut found = Vec::new();
    for name in &names {
        let (scenarios, problems) = readable_scenarios(&files, name);
        found.extend(problems.into_iter().map(|problem| (Severity::Error, problem)));
        let folder = format!("playbooks/{name}");
        found.extend(check::files(&Sources { folder: &folder, files: &files.within(&folder) }, &scenarios));
    }
    Ok((found, names.len()))
}

fn print(found: &[(Severity, Problem)], playbooks: usize) {
    let paint = Paint::of_stdout();
    for (severity, problem) in found {
        let severity = match severity {
            Severity::Error => paint.red("error"),
            Severity::Warning => paint.yellow("warning"),
        };
        say!("{severity}: {problem}");
    }
    let errors = errors(found);
    say!(
        "{} checked: {}, {}",
        counted(playbooks, "playbook"),
        counted(errors, "error"),
        counted(found.len() - errors, "warning")
    );
}

fn json(found: &[(Severity, Problem)], playbooks: usize) -> serde_json::Result<String> {
    let named = |severity| if severity == Severity::Error { "error" } else { "warning" };
    let findings = found.iter().map(|(severity, problem)| Entry { severity: named(*severity), problem }).collect();
    let errors = errors(found);
    serde_json::to_string_pretty(&Report { playbooks, errors, warnings: found.len() - errors, findings })
}

fn errors(found: &[(Severity, Problem)]) -> usize {
    found.iter().filter(|(severity, _)| *severity == Severity::Error).count()
}

fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
