//! Validating a whole project, as `groundstate validate` does it, and keeping what is found.

use std::cell::Cell;

use domain::api::documents::{Counts, Found};
use domain::finding::{Reported, Rule};
use domain::progress::Doing;
use domain::{Problem, document};
use serde_json::{Value, json};
use sqlx::{PgPool, Postgres, Transaction};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use crate::library::{Examining, Files, Library, Limits};
use store::clock;
use store::runs;
use store::validations::{self, Validation};

/// Checks all that a project uses, proves every scenario and looks for near-duplicates. How far it is, is said to `tell`; it
/// ends soon after nobody listens any more, or this future is dropped. What it found is kept by whoever commits the
/// transaction.
pub async fn validate(
    pool: &PgPool,
    project: Uuid,
    id: Uuid,
    limits: Limits,
    tell: watch::Sender<Option<Doing>>,
) -> anyhow::Result<(Validation, Transaction<'static, Postgres>)> {
    let files = super::files(pool, project).await?;
    let options = json!({"similar_description": limits.description, "similar_goal": limits.goal, "models": []});
    let (files, found) = spawn_blocking(move || {
        let examined = Library::examine(files.clone(), &limits, &wanted(tell, &files));
        let (problems, reported) = match examined {
            Ok((_, findings)) => (Vec::new(), findings),
            Err(problems) => (problems, Vec::new()),
        };
        let found = found_in(&files, problems, reported);
        (files, found)
    })
    .await?;
    let now = clock::now();
    let counts = Counts::of(&found);
    let validation = Validation {
        id,
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
        created_at: now,
    };
    let mut tx = pool.begin().await?;
    runs::insert_library(&mut tx, &validation.library, &serde_json::to_value(&files)?, now).await?;
    validations::insert(&mut tx, &validation).await?;
    Ok((validation, tx))
}

/// Says what is done next, and hears whether somebody still waits for it.
fn wanted(tell: watch::Sender<Option<Doing>>, files: &Files) -> impl Fn(Examining) -> bool + use<> {
    let (total, proved) = (files.under("scenarios").count(), Cell::new(0));
    move |examining| {
        let doing = match examining {
            Examining::Scenario => {
                let before = proved.replace(proved.get() + 1);
                Doing::new("prove", before, Some(total))
            }
            Examining::Duplicates => Doing::new("compare", 0, None),
        };
        tell.send(Some(doing)).is_ok()
    }
}

/// What was found in files, with pointers to the fields.
pub fn found_in(files: &Files, problems: Vec<Problem>, reported: Vec<Reported>) -> Vec<Found> {
    let problems = problems.into_iter().map(|problem| (problem, None));
    let reported = reported.into_iter().map(|reported| (reported.problem, Some(reported.rule)));
    let mut found: Vec<Found> = problems.chain(reported).map(|(problem, rule)| placed(files, problem, rule)).collect();
    found.sort();
    found
}

fn placed(files: &Files, problem: Problem, rule: Option<Rule>) -> Found {
    let text = files.get(&problem.file).filter(|_| !problem.field.is_empty());
    let located = text.and_then(|text| document::value(&problem.file, text).ok());
    let pointer = located.as_ref().and_then(|located| located.pointer(&problem.field)).unwrap_or_default().to_owned();
    Found::new(problem, rule, pointer)
}

/// The counts of a validation that was kept.
pub const fn counted(validation: &Validation) -> Counts {
    let Validation { critical, errors, warnings, infos, .. } = validation;
    Counts { critical: *critical, errors: *errors, warnings: *warnings, infos: *infos }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scenario_is_told_until_nobody_listens() {
        let mut files = Files::default();
        files.insert("scenarios/a.yaml", String::new());
        files.insert("scenarios/b.yaml", String::new());
        let (tell, told) = watch::channel(None);
        let wanted = wanted(tell, &files);
        for done in 0..2 {
            assert!(wanted(Examining::Scenario));
            assert_eq!(*told.borrow(), Some(Doing::new("prove", done, Some(2))));
        }
        assert!(wanted(Examining::Duplicates));
        assert_eq!(*told.borrow(), Some(Doing::new("compare", 0, None)));
        drop(told);
        assert!(!wanted(Examining::Scenario));
    }
}
