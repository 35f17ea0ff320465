//! `serve` and `play`, as services: started, looked at, stopped, started again.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use domain::access::Scope;
use domain::api::RunState;
use domain::role::Role;
use generation::ConversationRun;
use sqlx::PgPool;
use store::{players, runs};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use super::Project;
use crate::http::{somebody, token};
use crate::support::endpoint::{Endpoint, status};
use crate::support::play::{HELP, heard, planned};
use crate::support::process::{Listening, groundstate, terminate};
use crate::support::{agent, database_url, ledger, until};

async fn serve(pool: &PgPool, flags: &[&str]) -> Listening {
    let own = ["serve", "--listen", "127.0.0.1:0", "--concurrency", "4"];
    let server = Listening::start(&mut groundstate(pool, &[&own[..], flags].concat())).await;
    until("it is ready", async || server.get("/readyz").await.is_ok()).await;
    server
}

async fn until_played(pool: &PgPool, run: &ConversationRun) {
    let state = async || runs::state_of(&mut pool.acquire().await.unwrap(), run.control.run.id).await.unwrap();
    until("the run is played", async || state().await == Some(RunState::Finished)).await;
    ledger::check(pool, run.control.run.id).await;
}

/// The processes that play.
async fn playing(pool: &PgPool) -> Vec<i32> {
    let all = players::list(&mut pool.acquire().await.unwrap()).await.unwrap();
    all.into_iter().map(|player| player.pid).collect()
}

#[sqlx::test(migrations = "../migrations")]
async fn what_serve_leaves_alone_another_process_plays(pool: PgPool) {
    let run = planned(&pool, &[HELP], 6, 1, &[]).await;
    let server = serve(&pool, &["--no-play"]).await;
    let player = Listening::start(&mut groundstate(&pool, &["play", "--metrics", "127.0.0.1:0"])).await;
    until_played(&pool, &run).await;
    assert_eq!(playing(&pool).await, [player.child.id().unwrap().cast_signed()], "the server is no player");
    assert!(server.get("/healthz").await.is_ok());
    assert_eq!((server.stopped().await, player.stopped().await), (Some(0), Some(0)));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_server_that_is_stopped_ends_what_it_asked_and_the_next_one_goes_on(pool: PgPool) {
    let endpoint = Endpoint::start_held(Duration::ZERO, agent::help).await;
    let run = planned(&pool, &[HELP], 20, 3, &[(Role::Agent, endpoint.model())]).await;
    let mut server = serve(&pool, &["--drain", "120"]).await;
    endpoint.answer_only(0..7);
    until("it is amid the run", async || endpoint.requests().len() == 7 + 4).await;
    terminate(&server.child);
    until("it lets nobody in any more", async || server.get("/healthz").await.is_err()).await;
    assert!(server.child.try_wait().unwrap().is_none(), "it waits for its calls");
    endpoint.release();
    assert_eq!(server.child.wait().await.unwrap().code(), Some(0));
    assert!(playing(&pool).await.is_empty());
    let held: i64 =
        sqlx::query_scalar("SELECT count(*) FROM claims WHERE player IS NOT NULL").fetch_one(&pool).await.unwrap();
    assert_eq!(held, 0, "others can go on at once");
    let asked = endpoint.requests().len();

    let server = serve(&pool, &[]).await;
    until_played(&pool, &run).await;
    let heard = heard(&run).await;
    assert!(asked < heard, "it was stopped in the middle");
    assert_eq!(endpoint.requests().len(), heard, "what was in flight was waited for and kept");
    assert_eq!(server.stopped().await, Some(0));
}

/// A browser that follows a run has an answer that ends with the run.
#[sqlx::test(migrations = "../migrations")]
async fn a_server_that_is_stopped_waits_for_nobody_who_follows_a_run(pool: PgPool) {
    let endpoint = Endpoint::start_held(Duration::ZERO, agent::help).await;
    let run = planned(&pool, &[HELP], 20, 3, &[(Role::Agent, endpoint.model())]).await;
    let mut server = serve(&pool, &["--no-play"]).await;
    let token = token(&pool, somebody(&pool, "root", true).await, &[Scope::Read]).await;
    let progress = format!("{}/api/v1/runs/{}/progress", server.url, run.control.run.id);
    let mut followed = llm::http_client().build().unwrap().get(progress).bearer_auth(token).send().await.unwrap();
    assert_eq!(followed.status(), 200);
    assert!(followed.chunk().await.unwrap().is_some(), "it tells how far the run is");
    terminate(&server.child);
    let gone = tokio::time::timeout(Duration::from_secs(20), server.child.wait()).await;
    assert_eq!(gone.expect("it goes").unwrap().code(), Some(0));
}

/// Each connection takes a descriptor, and systems give a process few unless it asks for more.
#[sqlx::test(migrations = "../migrations")]
async fn a_server_asks_for_all_the_descriptors_that_it_may_have(pool: PgPool) {
    let own = ["serve", "--listen", "127.0.0.1:0", "--no-play"];
    let program = groundstate(&pool, &own);
    let mut few = Command::new("sh");
    few.args(["-c", "ulimit -S -n 200 && exec \"$0\" \"$@\""]).arg(program.as_std().get_program());
    few.args(program.as_std().get_args()).env("DATABASE_URL", database_url(&pool)).env_remove("GROUNDSTATE_DATA");
    let server = Listening::start(few.stdin(Stdio::null()).kill_on_drop(true)).await;
    until("it is ready", async || server.get("/readyz").await.is_ok()).await;
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.child.id().unwrap())).unwrap();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let mut limits = files.split_whitespace();
    let mut limit = || limits.next().unwrap().parse::<u64>().unwrap_or(u64::MAX);
    let (soft, hard) = (limit(), limit());
    assert_eq!(soft, hard.min(65_536), "soft and hard: {files}");
    assert_eq!(server.stopped().await, Some(0));
}

/// Whether every line is one of Prometheus' text format.
fn is_prometheus(text: &str) -> bool {
    let sample = |line: &str| {
        let named = line.starts_with(|c: char| c.is_ascii_lowercase());
        named && line.rsplit_once(' ').is_some_and(|(_, value)| value.parse::<f64>().is_ok())
    };
    let comment = |line: &str| line.starts_with("# TYPE ") || line.starts_with("# HELP ");
    text.lines().all(|line| line.is_empty() || comment(line) || sample(line))
}

#[sqlx::test(migrations = "../migrations")]
async fn a_player_tells_prometheus_how_it_does(pool: PgPool) {
    // One request fails, and is made again.
    let failed = Arc::new(AtomicBool::new(false));
    let endpoint = Endpoint::start_held(Duration::ZERO, move |request| {
        if failed.swap(true, Ordering::Relaxed) { agent::help(request) } else { status(500) }
    })
    .await;
    // More than a replica is given in the beginning.
    let run = planned(&pool, &[HELP], 20, 1, &[(Role::Agent, endpoint.model())]).await;
    let player = Listening::start(&mut groundstate(&pool, &["play", "--metrics", "127.0.0.1:0"])).await;
    let labels = format!(r#"role="agent",model="{}""#, endpoint.model());
    let url = endpoint.model().split_once('@').unwrap().1.to_owned();
    let has = async |line: &str| player.get("/metrics").await.unwrap().lines().any(|own| own == line);
    for line in [
        format!("groundstate_model_waiting{{{labels}}} 4"),
        format!("groundstate_model_in_flight{{{labels},replica=\"{url}\"}} 16"),
        "groundstate_tasks_in_flight 20".to_owned(),
    ] {
        until(&line, async || has(&line).await).await;
    }
    endpoint.release();
    until_played(&pool, &run).await;
    for line in [
        format!("groundstate_model_waiting{{{labels}}} 0"),
        format!("groundstate_model_in_flight{{{labels},replica=\"{url}\"}} 0"),
        format!("groundstate_model_retries_total{{{labels}}} 1"),
        "groundstate_tasks_ended_total{kind=\"conversation\",outcome=\"accepted\"} 20".to_owned(),
        "groundstate_runs{state=\"finished\"} 1".to_owned(),
    ] {
        until(&line, async || has(&line).await).await;
    }
    let figures = player.get("/metrics").await.unwrap();
    assert!(is_prometheus(&figures), "{figures}");
    let usage = runs::usage(&mut pool.acquire().await.unwrap(), run.control.run.id).await.unwrap();
    let agent = usage.iter().find(|usage| usage.role == "agent").unwrap();
    for (figure, expected) in [
        // The one that failed took its time, too.
        (format!("groundstate_model_request_seconds_count{{{labels}}}"), agent.calls + 1),
        (format!("groundstate_model_tokens_total{{{labels},kind=\"prompt\"}}"), agent.prompt_tokens),
        (format!("groundstate_model_tokens_total{{{labels},kind=\"completion\"}}"), agent.completion_tokens),
    ] {
        assert!(has(&format!("{figure} {expected}")).await, "{figure} {expected}: {figures}");
    }
    let events: i64 = sqlx::query_scalar("SELECT count(*) FROM events").fetch_one(&pool).await.unwrap();
    assert!(has(&format!("groundstate_events_total {events}")).await, "{events} events: {figures}");
    // Each reply but the last of a conversation is a step of its own, and so is each end.
    let steps = figures.lines().find_map(|line| line.strip_prefix("groundstate_commit_steps_sum "));
    let steps: f64 = steps.unwrap().parse().unwrap();
    assert!(steps >= 40.0, "{steps} steps: {figures}");
    assert!(has("# TYPE groundstate_commit_seconds histogram").await, "{figures}");
    assert!(player.get("/healthz").await.is_ok() && player.get("/readyz").await.is_ok());
    assert_eq!(player.stopped().await, Some(0));
}

/// The command that `serve` offers in a folder with documents, and all that it says before.
async fn offer(folder: &Path, flags: &[&str]) -> (Option<String>, Vec<String>) {
    let mut command = super::groundstate(["serve", "--listen", "127.0.0.1:0", "--no-play"].iter().chain(flags));
    let mut server = command.current_dir(folder).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let (mut said, mut offered) = (Vec::new(), None);
    // A new database takes a while before the first line.
    let mut patience = Duration::from_mins(1);
    while offered.is_none()
        && let Ok(Ok(Some(line))) = tokio::time::timeout(patience, lines.next_line()).await
    {
        offered = line.split_once(" with: groundstate ").map(|(_, command)| command.to_owned());
        said.push(line);
        patience = Duration::from_secs(2);
    }
    terminate(&server);
    server.wait().await.unwrap();
    (offered, said)
}

/// Types a command that was offered.
async fn typed(folder: &Path, command: &str) -> String {
    let words = shlex::split(command).unwrap();
    let said = super::said(super::groundstate(words).current_dir(folder)).await;
    assert_eq!(said.code, Some(0), "{command}: {}", said.stderr);
    said.stdout
}

#[sqlx::test(migrations = "../migrations")]
async fn an_empty_project_is_told_how_the_documents_of_the_folder_get_into_it(pool: PgPool) {
    let project = Project::new();
    let mut url = reqwest::Url::parse(&database_url(&pool)).unwrap();
    if url.password().is_none() {
        url.set_password(Some("hushed")).unwrap();
    }
    let password = url.password().unwrap();
    let given = ["--database-url", url.as_str()];
    let (offered, said) = offer(project.path(), &given).await;
    assert!(!said.iter().any(|line| line.contains(password)), "a password is shown: {said:?}");
    let offered = offered.unwrap_or_else(|| panic!("{said:?}"));
    assert!(offered.starts_with("sync --push --database-url "), "{offered}");
    typed(project.path(), &offered.replace("PASSWORD", password)).await;
    let (offered, said) = offer(project.path(), &given).await;
    assert!(said.len() > 1 && offered.is_none(), "{said:?}");
}

#[tokio::test]
async fn the_command_that_is_offered_fills_the_database_that_is_served() {
    let project = Project::new();
    let folder = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
    std::fs::rename(project.path(), folder.path().join("my project")).unwrap();
    let data = folder.path().join("my data").display().to_string();
    let flags = ["--project", "my project", "--data-dir", &data];
    let (offered, said) = offer(folder.path(), &flags).await;
    let offered = offered.unwrap_or_else(|| panic!("{said:?}"));
    assert_eq!(offered, format!("sync --push --project 'my project' --data-dir '{data}'"));
    typed(folder.path(), &offered).await;
    let compared = typed(folder.path(), &offered.replace("--push ", "")).await;
    assert!(compared.ends_with("are the same\n"), "{compared}");
}

/// A server starts another player where the database is away, and ends with its player where the settings are wrong.
#[sqlx::test(migrations = "../migrations")]
async fn a_player_says_whether_its_database_is_away(pool: PgPool) {
    let ends = async |url: &str| {
        let mut player = groundstate(&pool, &["play", "--child"]);
        let player = player.env("DATABASE_URL", url).stdin(Stdio::piped()).output();
        tokio::time::timeout(Duration::from_mins(1), player).await.unwrap().unwrap().status.code()
    };
    assert_eq!(ends("postgres://postgres@127.0.0.1:1/postgres").await, Some(75));
    let name = pool.connect_options().get_database().unwrap().to_owned();
    let missing = database_url(&pool).replacen(&name, "no_such_database_of_ours", 1);
    assert_eq!(ends(&missing).await, Some(1));
}

#[tokio::test]
async fn a_database_that_refuses_connections_is_said_to() {
    let project = Project::new();
    let said =
        super::said(&mut project.groundstate("runs list --database-url postgres://postgres@127.0.0.1:1/postgres"))
            .await;
    assert_eq!(said.code, Some(1));
    assert!(said.stderr.contains("Connection refused"), "{}", said.stderr);
}

#[tokio::test]
async fn a_database_that_is_named_counts_more_than_a_data_directory_of_the_environment() {
    let project = Project::new();
    let mut command = project.groundstate("runs list --database-url postgres://postgres@127.0.0.1:1/postgres");
    let said = super::said(command.env("GROUNDSTATE_DATA", project.join("data"))).await;
    assert_eq!(said.code, Some(1));
    assert!(said.stderr.contains("Connection refused"), "{}", said.stderr);
    assert!(!project.join("data").exists());
}
