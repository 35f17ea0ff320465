//! `generate` ends with 3 when its run was paused or cancelled before its end: what was played is kept.

use std::process::Stdio;
use std::time::Duration;

use sqlx::PgPool;
use tokio::process::Child;

use super::{CommandOutput, Project, database_url, said};
use crate::support::endpoint::Endpoint;
use crate::support::{agent, ledger, until};

const ORDER: &str = "generate --playbook retail_bank --scenario help_card_abroad --n 12 --concurrency 2 --agent";

/// What a command says over this database.
async fn run(pool: &PgPool, project: &Project, arguments: &str) -> CommandOutput {
    said(project.groundstate(arguments).env("DATABASE_URL", database_url(pool))).await
}

async fn only_run(pool: &PgPool) -> uuid::Uuid {
    sqlx::query_scalar("SELECT id FROM runs").fetch_one(pool).await.unwrap()
}

/// Starts a run of which somebody thinks otherwise while models are asked.
async fn begun(pool: &PgPool, project: &Project, endpoint: &Endpoint) -> Child {
    let mut command = project.groundstate(ORDER);
    command.arg(endpoint.model()).env("DATABASE_URL", database_url(pool));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("models are asked", async || endpoint.requests().len() == 2).await;
    child
}

/// The exit code, and what was said.
async fn ended(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().await.unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[sqlx::test(migrations = "../migrations")]
async fn at_a_cap_until_it_is_raised(pool: PgPool) {
    let endpoint = Endpoint::start(agent::help).await;
    let project = Project::new();
    // Each reply takes 18 tokens.
    let said = run(&pool, &project, &format!("{ORDER} {} --budget-tokens 90", endpoint.model())).await;
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    let id = only_run(&pool).await;
    let paused = format!(
        "paused       the budget of tokens is used up. Raise that cap first: groundstate runs budget {id} --help. \
         Continue with: groundstate generate --resume {id}\n"
    );
    assert!(said.stdout.ends_with(&paused), "{}", said.stdout);
    let accepted: i64 =
        sqlx::query_scalar("SELECT count(*) FROM tasks WHERE outcome = 'accepted'").fetch_one(&pool).await.unwrap();
    let rows = std::fs::read_to_string(project.join("rows.jsonl")).unwrap();
    assert_eq!(i64::try_from(rows.lines().count()).unwrap(), accepted, "the rows that it has are written");
    let asked = endpoint.requests().len();
    assert!((5..=7).contains(&asked), "beyond it only what was in flight: {asked}");

    let again = run(&pool, &project, &format!("generate --resume {id}")).await;
    assert_eq!(again.code, Some(2), "the cap is the same: {}", again.stderr);
    assert!(again.stderr.contains("the budget of tokens is used up; raise that cap first"), "{}", again.stderr);
    assert_eq!(endpoint.requests().len(), asked, "nothing is asked");
    let raised = run(&pool, &project, &format!("runs budget {id} --budget-tokens 1000000")).await;
    assert_eq!(raised.code, Some(0), "{}", raised.stderr);
    let said = run(&pool, &project, &format!("generate --resume {id}")).await;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("accepted     12 of 12"), "{}", said.stdout);
    ledger::check(&pool, id).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn by_somebody_else(pool: PgPool) {
    let endpoint = Endpoint::start_held(Duration::ZERO, agent::help).await;
    let project = Project::new();
    let child = begun(&pool, &project, &endpoint).await;
    let paused = run(&pool, &project, "runs pause").await;
    assert_eq!(paused.code, Some(0), "{}", paused.stderr);
    endpoint.release();
    let (code, stdout) = ended(child).await;
    assert_eq!(code, Some(3), "{stdout}");
    assert!(stdout.contains("\npaused       somebody paused it. Continue with: groundstate generate"), "{stdout}");
}

#[sqlx::test(migrations = "../migrations")]
async fn for_good(pool: PgPool) {
    // Nobody would wait for these calls.
    let endpoint = Endpoint::start_held(Duration::ZERO, agent::help).await;
    let project = Project::new();
    let child = begun(&pool, &project, &endpoint).await;
    let cancelled = run(&pool, &project, "runs cancel").await;
    assert_eq!(cancelled.code, Some(0), "{}", cancelled.stderr);
    let (code, stdout) = ended(child).await;
    assert_eq!(code, Some(3), "{stdout}");
    assert!(stdout.ends_with("cancelled    what was played is kept\n"), "{stdout}");
}
