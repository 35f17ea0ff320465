//! What commands change is in the audit log, without an actor; what they only look at, or may not do, is not.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sqlx::PgPool;
use uuid::Uuid;

use super::{CommandOutput, Project, database_url, said};
use crate::support::agent::verdict;
use crate::support::endpoint::{Endpoint, says};

/// Who, what, on what, and more about it, since this was asked for last.
async fn new(pool: &PgPool, seen: &mut usize) -> Vec<(String, String, String, Value)> {
    let entries: Vec<(String, String, String, Value)> =
        sqlx::query_as("SELECT actor, action, subject, detail FROM audit_log ORDER BY id")
            .fetch_all(pool)
            .await
            .unwrap();
    let new = entries[*seen..].to_vec();
    *seen = entries.len();
    new
}

#[sqlx::test(migrations = "../migrations")]
async fn every_command_that_changes_something(pool: PgPool) {
    let (project, mut seen) = (Project::new(), 0);
    let run = async |arguments: &str| -> CommandOutput {
        said(project.groundstate(arguments).env("DATABASE_URL", database_url(&pool))).await
    };
    let endpoint = Endpoint::start(|_| says(&verdict().to_string())).await;
    let order = "generate --playbook retail_bank --scenario help_card_abroad --n 2";
    let made = run(order).await;
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let played: Uuid = sqlx::query_scalar("SELECT id FROM runs").fetch_one(&pool).await.unwrap();
    let by_command = |action: &str, subject: &dyn ToString, detail: Value| {
        (String::new(), format!("groundstate {action}"), subject.to_string(), detail)
    };
    assert_eq!(new(&pool, &mut seen).await, [by_command("generate", &played, json!({}))]);

    assert_eq!(run(&format!("{order} --detach")).await.code, Some(0));
    let waits: Uuid =
        sqlx::query_scalar("SELECT id FROM runs WHERE id <> $1").bind(played).fetch_one(&pool).await.unwrap();
    let budget = json!({"tokens": 5});
    let steps = [
        ("pause".to_owned(), "pause", json!({})),
        ("priority RUN 3".to_owned(), "priority", json!({"priority": 3})),
        ("budget RUN --budget-tokens 5".to_owned(), "budget", json!({"budget": budget})),
        ("resume".to_owned(), "resume", json!({})),
        ("retry".to_owned(), "retry", json!({"conversations": 0})),
        ("cancel".to_owned(), "cancel", json!({})),
    ];
    assert_eq!(new(&pool, &mut seen).await, [by_command("generate", &waits, json!({}))]);
    for (words, action, mut detail) in steps {
        let words =
            if words.contains("RUN") { words.replace("RUN", &waits.to_string()) } else { format!("{words} {waits}") };
        let done = run(&format!("runs {words}")).await;
        assert_eq!(done.code, Some(0), "{words}: {}", done.stderr);
        let entries = new(&pool, &mut seen).await;
        if action == "budget" {
            detail = entries[0].3.clone();
            assert_eq!(detail["budget"]["tokens"], 5);
        }
        assert_eq!(entries, [by_command(&format!("runs {action}"), &waits, detail)]);
    }
    // What is refused, and what only looks.
    assert_eq!(run(&format!("runs pause {waits}")).await.code, Some(2));
    for words in ["runs list", "runs show", "runs audit", "corpora list", "corpora create --dry-run", "validate"] {
        run(words).await;
    }
    assert_eq!(new(&pool, &mut seen).await, []);

    let made = run("corpora create v1").await;
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    assert_eq!(run("corpora create v1").await.code, Some(2), "there is one");
    assert_eq!(run("corpora delete v1").await.code, Some(0));
    let named = json!({"name": "v1"});
    let of_corpora = new(&pool, &mut seen).await;
    let id = of_corpora[0].2.clone();
    let expected = [by_command("corpora create", &id, named.clone()), by_command("corpora delete", &id, named)];
    assert_eq!(of_corpora, expected);

    assert_eq!(run(&format!("judge --run {played} --judge {} --dry-run", endpoint.model())).await.code, Some(0));
    let judged = run(&format!("judge --run {played} --judge {}", endpoint.model())).await;
    assert_eq!(judged.code, Some(0), "{}", judged.stderr);
    let judging: Uuid =
        sqlx::query_scalar("SELECT id FROM judgings WHERE NOT original").fetch_one(&pool).await.unwrap();
    assert_eq!(new(&pool, &mut seen).await, [by_command("judge", &judging, json!({"run": played}))]);

    let saved = run("validate --save").await;
    let validation: Uuid = sqlx::query_scalar("SELECT id FROM validations").fetch_one(&pool).await.unwrap();
    let sound = json!({"sound": saved.code == Some(0)});
    assert_eq!(new(&pool, &mut seen).await, [by_command("validate", &validation, sound)]);

    run(&format!("models check {}", endpoint.model())).await;
    assert_eq!(new(&pool, &mut seen).await, [by_command("models check", &endpoint.model(), json!({}))]);

    // Each belongs to the project that it is about.
    let projects: Vec<(String, Option<Uuid>)> =
        sqlx::query_as("SELECT action, project_id FROM audit_log").fetch_all(&pool).await.unwrap();
    let without: BTreeSet<String> =
        projects.into_iter().filter(|(_, id)| id.is_none()).map(|(action, _)| action).collect();
    assert_eq!(without, BTreeSet::from(["groundstate models check".to_owned()]));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_at_its_cap_is_not_taken_up_to_play_nothing(pool: PgPool) {
    let project = Project::new();
    let run = async |arguments: &str| -> CommandOutput {
        said(project.groundstate(arguments).env("DATABASE_URL", database_url(&pool))).await
    };
    let order = "generate --playbook retail_bank --scenario help_card_abroad --n 6 --concurrency 1 --detach";
    assert_eq!(run(order).await.code, Some(0));
    // As an order over the API has it.
    let capped = "UPDATE runs SET budget = budget || '{\"conversations\": 2}'";
    sqlx::query(capped).execute(&pool).await.unwrap();
    let paused = run("generate --resume --concurrency 1").await;
    assert_eq!(paused.code, Some(3), "it pauses at the cap: {}", paused.stderr);
    let refused = run("generate --resume").await;
    assert_eq!(refused.code, Some(2), "it would play nothing");
    assert!(refused.stderr.contains("--resume: all conversations that its budget allows"), "{}", refused.stderr);
    let id: Uuid = sqlx::query_scalar("SELECT id FROM runs").fetch_one(&pool).await.unwrap();
    assert_eq!(run(&format!("runs budget {id}")).await.code, Some(0), "no cap is left");
    let resumed = run("generate --resume").await;
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert!(resumed.stdout.contains("of 6"), "{}", resumed.stdout);
}
