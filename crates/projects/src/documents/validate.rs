//! Validating a whole project, as `groundstate validate` does it, and keeping what is found: what the job of a validation
//! does.

use std::cell::Cell;
use std::collections::BTreeMap;

use anyhow::Context as _;
use domain::api::documents::{Counts, Found, NewValidation};
use domain::finding::{Reported, Rule};
use domain::progress::Doing;
use domain::similarity::{SAME_DESCRIPTION, SAME_GOAL};
use domain::{Problem, document};
use runtime::jobs::{Completion, JobLease};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::library::{Examining, Files, Library, Limits};
use store::clock;
use store::runs;
use store::validations::{self, Validation};

/// Checks all that a project uses, proves every scenario and looks for near-duplicates.
///
/// # Errors
/// The database.
pub async fn work(lease: JobLease) -> anyhow::Result<Completion> {
    let project = lease.job.project.context("a validation without a project")?;
    let order: NewValidation = serde_json::from_value(lease.job.spec.clone())?;
    let limits = Limits {
        description: order.similar_description.unwrap_or(SAME_DESCRIPTION),
        goal: order.similar_goal.unwrap_or(SAME_GOAL),
    };
    let options = json!({"similar_description": limits.description, "similar_goal": limits.goal, "models": []});
    let files = super::files(&lease.pool, project).await?;
    let own = lease.clone();
    let (files, found) = spawn_blocking(move || {
        let tell = |doing| {
            own.tell(doing);
            !own.over().is_cancelled()
        };
        let examined = Library::examine(files.clone(), &limits, &wanted(tell, &files));
        let (problems, reported) = match examined {
            Ok((_, findings)) => (Vec::new(), findings),
            Err(problems) => (problems, Vec::new()),
        };
        let found = found_in(&files, problems, reported);
        (files, found)
    })
    .await?;
    let counts = Counts::of(&found);
    let validation = Validation {
        id: lease.job.subject,
        project,
        library: files.hash(),
        options,
        findings: serde_json::to_value(&found)?,
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

/// Says what is done next, and hears whether it is still wanted.
fn wanted<T: Fn(Doing) -> bool>(tell: T, files: &Files) -> impl Fn(Examining) -> bool + use<T> {
    let (total, proved) = (files.under("scenarios").count(), Cell::new(0));
    move |examining| {
        let doing = match examining {
            Examining::Scenario => {
                let before = proved.replace(proved.get() + 1);
                Doing::new("prove", before, Some(total))
            }
            Examining::Playbook => Doing::new("try", 0, None),
            Examining::Duplicates => Doing::new("compare", 0, None),
        };
        tell(doing)
    }
}

/// What was found in files, with pointers to the fields.
pub fn found_in(files: &Files, problems: Vec<Problem>, reported: Vec<Reported>) -> Vec<Found> {
    let problems = problems.into_iter().map(|problem| (problem, None));
    let reported = reported.into_iter().map(|reported| (reported.problem, Some(reported.rule)));
    let mut read = BTreeMap::new();
    let found = problems.chain(reported).map(|(problem, rule)| placed(files, &mut read, problem, rule));
    let mut found: Vec<Found> = found.collect();
    found.sort();
    found
}

/// `read`: the files so far, each read once however many problems it has.
fn placed(
    files: &Files,
    read: &mut BTreeMap<String, Option<document::Located>>,
    problem: Problem,
    rule: Option<Rule>,
) -> Found {
    if problem.field.is_empty() {
        return Found::new(problem, rule, String::new());
    }
    let locate = || files.get(&problem.file).and_then(|text| document::value(&problem.file, text).ok());
    let located = read.entry(problem.file.clone()).or_insert_with(locate);
    let pointer = located.as_ref().and_then(|located| located.pointer(&problem.field)).unwrap_or_default();
    Found::new(problem, rule, pointer)
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
    fn each_scenario_is_told_until_it_is_not_wanted_any_more() {
        let mut files = Files::default();
        files.insert("scenarios/a.yaml", String::new());
        files.insert("scenarios/b.yaml", String::new());
        let (told, still) = (RefCell::new(Vec::new()), Cell::new(true));
        let tell = |doing| {
            told.borrow_mut().push(doing);
            still.get()
        };
        let wanted = wanted(tell, &files);
        assert!(wanted(Examining::Scenario) && wanted(Examining::Scenario) && wanted(Examining::Duplicates));
        still.set(false);
        assert!(!wanted(Examining::Scenario));
        let proved = |done| Doing::new("prove", done, Some(2));
        let compared = Doing::new("compare", 0, None);
        assert_eq!(*told.borrow(), [proved(0), proved(1), compared, proved(2)]);
    }
}
