//! Validating a whole project, as `groundstate validate` does it, and keeping what is found: what the job of a validation
//! does.

use std::cell::Cell;
use std::collections::BTreeMap;

use anyhow::Context as _;
use domain::api::documents::{Counts, DocumentFinding, NewValidation, listed};
use domain::finding::{LocatedFinding, Rule};
use domain::progress::JobProgress;
use domain::similarity::{SAME_DESCRIPTION, SAME_GOAL};
use domain::{Problem, document};
use runtime::jobs::{Completion, JobLease};
use sandbox::{Failure, Limits as WorkLimits, Sandbox, Work};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::library::{ExaminationStep, Files, Library, Limits};
use crate::sandboxed::exceeded;
use store::clock;
use store::runs;
use store::validations::{self, Validation};

/// Checks all that a project uses, proves every scenario and looks for near-duplicates.
///
/// # Errors
/// The database.
pub async fn work(lease: JobLease, sandbox: &Sandbox) -> anyhow::Result<Completion> {
    let project = lease.job.project.context("a validation without a project")?;
    let order: NewValidation = serde_json::from_value(lease.job.spec.clone())?;
    let limits = Limits {
        description: order.similar_description.unwrap_or(SAME_DESCRIPTION),
        goal: order.similar_goal.unwrap_or(SAME_GOAL),
    };
    let options = json!({"similar_description": limits.description, "similar_goal": limits.goal, "models": []});
    let files = super::files(&lease.pool, project).await?;
    let (own, validate) = (lease.clone(), ValidateProject { files: files.clone(), limits });
    let heard = move |doing| drop(serde_json::from_value(doing).map(|doing| own.report(doing)));
    let found = match sandbox.run_reporting(project, validate, heard).await {
        Err(Failure::Exceeded(limit)) => vec![DocumentFinding::new(exceeded(".", limit), None, String::new())],
        done => done?,
    };
    let counts = Counts::of(&found);
    let validation = Validation {
        id: lease.job.subject,
        project,
        library: files.hash(),
        options,
        findings: serde_json::to_value(listed(found))?,
        reviews: Value::Array(Vec::new()),
        critical: counts.critical,
        errors: counts.errors,
        warnings: counts.warnings,
        infos: counts.infos,
        sound: counts.are_sound(),
        created_at: clock::now(),
    };
    let mut tx = lease.transaction().await?;
    let library = serde_json::to_value(&files)?;
    runs::insert_library(&mut tx, &validation.library, &library, validation.created_at).await?;
    validations::insert(&mut tx, &validation).await?;
    Ok(Completion::finished(tx, json!({"sound": validation.sound})))
}

/// Checks a whole project, and says what was found.
#[derive(Serialize, Deserialize)]
pub struct ValidateProject {
    files: Files,
    limits: Limits,
}

impl Work for ValidateProject {
    const NAME: &'static str = "validate a project";
    const LIMITS: WorkLimits = WorkLimits::JOB;
    type Answer = Vec<DocumentFinding>;

    fn work(self, report: &dyn Fn(Value)) -> Vec<DocumentFinding> {
        let tell = |doing: JobProgress| report(json!(doing));
        let (problems, reported) = match Library::examine(self.files.clone(), &self.limits, &steps(tell, &self.files)) {
            Ok((_, findings)) => (Vec::new(), findings),
            Err(problems) => (problems, Vec::new()),
        };
        found_in(&self.files, problems, reported)
    }
}

/// Reports each step before it is taken.
fn steps<T: Fn(JobProgress)>(tell: T, files: &Files) -> impl Fn(ExaminationStep) -> bool + use<T> {
    let (total, proved) = (files.under("scenarios").count(), Cell::new(0));
    move |examining| {
        let doing = match examining {
            ExaminationStep::Scenario => {
                let before = proved.replace(proved.get() + 1);
                JobProgress::new("prove", before, Some(total))
            }
            ExaminationStep::Playbook => JobProgress::new("try", 0, None),
            ExaminationStep::Duplicates => JobProgress::new("compare", 0, None),
        };
        tell(doing);
        true
    }
}

/// What was found in files, with pointers to the fields.
pub fn found_in(files: &Files, problems: Vec<Problem>, reported: Vec<LocatedFinding>) -> Vec<DocumentFinding> {
    let problems = problems.into_iter().map(|problem| (problem, None));
    let reported = reported.into_iter().map(|reported| (reported.problem, Some(reported.rule)));
    let mut read = BTreeMap::new();
    let found = problems.chain(reported).map(|(problem, rule)| placed(files, &mut read, problem, rule));
    let mut found: Vec<DocumentFinding> = found.collect();
    found.sort();
    found
}

/// `read`: the files so far, each read once however many problems it has.
fn placed(
    files: &Files,
    read: &mut BTreeMap<String, Option<document::LocatedValue>>,
    problem: Problem,
    rule: Option<Rule>,
) -> DocumentFinding {
    if problem.field.is_empty() {
        return DocumentFinding::new(problem, rule, String::new());
    }
    let locate = || files.get(&problem.file).and_then(|text| document::value(&problem.file, text).ok());
    let located = read.entry(problem.file.clone()).or_insert_with(locate);
    let pointer = located.as_ref().and_then(|located| located.pointer(&problem.field)).unwrap_or_default();
    DocumentFinding::new(problem, rule, pointer)
}

/// The counts of a validation that was kept.
pub const fn counted(validation: &Validation) -> Counts {
    let Validation { critical, errors, warnings, infos, .. } = validation;
    Counts { critical: *critical, errors: *errors, warnings: *warnings, infos: *infos }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn each_step_is_reported_before_it_is_taken() {
        let mut files = Files::default();
        files.insert("scenarios/a.yaml", String::new());
        files.insert("scenarios/b.yaml", String::new());
        let told = RefCell::new(Vec::new());
        let steps = steps(|doing| told.borrow_mut().push(doing), &files);
        for step in [ExaminationStep::Scenario, ExaminationStep::Scenario, ExaminationStep::Duplicates] {
            assert!(steps(step));
        }
        let proved = |done| JobProgress::new("prove", done, Some(2));
        assert_eq!(*told.borrow(), [proved(0), proved(1), JobProgress::new("compare", 0, None)]);
    }
}
