//! `groundstate models`.

use serde_json::{Value, json};
use sqlx::PgPool;

use super::{Project, groundstate, said};
use crate::support::database_url;
use crate::support::endpoint::{Endpoint, nobody, says};

async fn models(pool: &PgPool, project: &Project, arguments: &[&str]) -> super::CommandOutput {
    let mut command = groundstate(["models"]);
    said(command.args(arguments).current_dir(project.path()).env("DATABASE_URL", database_url(pool))).await
}

#[sqlx::test(migrations = "../migrations")]
async fn a_check_says_what_a_model_can_and_runs_warn_by_it(pool: PgPool) {
    let (project, endpoint) = (Project::new(), Endpoint::start(|_| says("ready")).await);
    let model = endpoint.model();
    let found = models(&pool, &project, &["check", &model]).await;
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    for line in [
        "  reply                ok ",
        "  tool_call            FAILED ",
        "  function_calling     no       use the agent",
    ] {
        assert!(found.stdout.contains(line), "{line}: {}", found.stdout);
    }
    // Each reply says that it took 11 tokens and wrote 7; without a context length, one question is not asked.
    let calls = endpoint.requests().len();
    assert_eq!(calls, 12);
    let took = format!("{calls} calls: {} tokens read, {} written\nIt can be used.\n", 11 * calls, 7 * calls);
    assert!(found.stdout.ends_with(&took), "{}", found.stdout);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_check_fails_for_what_cannot_be_used(pool: PgPool) {
    let project = Project::new();
    let found = models(&pool, &project, &["check", &nobody(), "--json"]).await;
    assert_eq!(found.code, Some(1), "{}", found.stderr);
    let report: Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(report["replicas"][0]["checks"][0]["outcome"], json!("failed"));
    for (model, says) in [("scripted", "has no endpoint"), ("nobody", "nobody"), ("a@ftp://x", "ftp")] {
        let refused = models(&pool, &project, &["check", model]).await;
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains(says), "{}", refused.stderr);
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn models_are_listed_with_when_they_were_probed(pool: PgPool) {
    let (project, endpoint) = (Project::new(), Endpoint::start(|_| says("ready")).await);
    let url = endpoint.model().split_once('@').unwrap().1.to_owned();
    let entry = format!("models:\n  - {{name: house, replicas: [\"{url}\"]}}\n");
    std::fs::write(project.path().join("models.yaml"), entry).unwrap();
    let never = models(&pool, &project, &["list"]).await.stdout;
    assert!(never.contains("house") && never.contains("never") && never.contains(&url), "{never}");
    assert_eq!(models(&pool, &project, &["check", "house"]).await.code, Some(0));
    let list = models(&pool, &project, &["list"]).await.stdout;
    assert!(list.contains("house") && !list.contains("never"), "{list}");
}
