//! `groundstate jobs`, and jobs as several processes share them.

use std::time::Duration;

use domain::api::CorpusSummary;
use domain::job::{JobKind, JobState};
use rustix::process::{Signal, kill_process};
use sqlx::PgPool;
use store::jobs;
use tokio::process::Child;
use uuid::Uuid;

use super::{CommandOutput, Project, database_url, said};
use crate::http::TestApp;
use crate::http::followed::TableLock;
use crate::support::agent::verdict;
use crate::support::endpoint::{Endpoint, says};
use crate::support::jobs::judging;
use crate::support::play::{HELP, played};
use crate::support::process::{groundstate, pid, play};
use crate::support::{ledger, until};

async fn run(pool: &PgPool, arguments: &str) -> CommandOutput {
    let project = Project::new();
    said(project.groundstate(arguments).env("DATABASE_URL", database_url(pool))).await
}

/// Which process works on a judging.
async fn worker(pool: &PgPool, judging: Uuid) -> Option<i32> {
    let pid = "SELECT pid FROM jobs JOIN players ON players.id = player WHERE subject = $1";
    sqlx::query_scalar(pid).bind(judging).fetch_optional(pool).await.unwrap()
}

async fn state(pool: &PgPool, judging: Uuid) -> JobState {
    jobs::current(&mut pool.acquire().await.unwrap(), JobKind::Judging, judging).await.unwrap().unwrap().state
}

fn number(child: &Child) -> i32 {
    child.id().unwrap().cast_signed()
}

/// Nobody is started for it: whoever is there goes on where the other one was.
#[sqlx::test(migrations = "../migrations")]
async fn a_judging_whose_process_is_killed_goes_on_in_another_one(pool: PgPool) {
    let run = played(&pool, &[HELP], 6, 1, &[]).await;
    let judge = Endpoint::start_held(Duration::ZERO, |_| says(&verdict().to_string())).await;
    let judging = judging(&pool, &run, &[&judge.model()], None).await;
    let mut first = play(&pool);
    until("all are asked", async || judge.requests().len() == 6).await;
    assert_eq!(worker(&pool, judging).await, Some(number(&first)));
    let second = play(&pool);
    judge.answer_only(0..2);
    until("some are judged", async || verdicts(&pool, judging).await == 2).await;
    kill_process(pid(&first), Signal::KILL).unwrap();
    first.wait().await.unwrap();
    judge.release();
    until("it is finished", async || state(&pool, judging).await == JobState::Finished).await;
    assert_eq!(
        (verdicts(&pool, judging).await, judge.requests().len()),
        (6, 6 + 4),
        "what was judged is not judged again"
    );
    assert_eq!(worker(&pool, judging).await, None);
    let usage: i64 = sqlx::query_scalar("SELECT calls FROM usage WHERE role = 'judge' AND model <> 'scripted'")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(usage, 6, "of what was in flight nobody knows");
    ledger::check(&pool, run.control.run.id).await;
    drop(second);
}

/// A judging that a command begins is a job too: another process continues it when the command is killed.
#[sqlx::test(migrations = "../migrations")]
async fn a_judging_whose_command_is_killed_goes_on_in_a_player(pool: PgPool) {
    let (judge, judging, given) = killed(&pool).await;
    judge.release();
    let player = play(&pool);
    until("it is finished", async || state(&pool, judging).await == JobState::Finished).await;
    assert_eq!((verdicts(&pool, judging).await, judge.requests().len()), (6, 6 + 6 - given));
    drop(player);
}

/// Or another command does, and says what came of all of it.
#[sqlx::test(migrations = "../migrations")]
async fn a_judging_whose_command_is_killed_goes_on_in_another_command(pool: PgPool) {
    let (judge, judging, given) = killed(&pool).await;
    judge.release();
    let resumed = run(&pool, &format!("judge --resume {judging} --concurrency 3")).await;
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert!(resumed.stdout.contains("judged       6\n"), "{}", resumed.stdout);
    assert_eq!((verdicts(&pool, judging).await, judge.requests().len()), (6, 6 + 6 - given));
    assert_eq!(state(&pool, judging).await, JobState::Finished);
    let again = run(&pool, &format!("judge --resume {judging}")).await;
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(again.stdout.starts_with("There is nothing left to judge"), "{}", again.stdout);
    assert_eq!(judge.requests().len(), 6 + 6 - given);
}

/// A command that judges six conversations and is killed when some have their verdict: who judges, the judging, and how
/// many verdicts were given. While it works, a player is there that does not get the job.
async fn killed(pool: &PgPool) -> (Endpoint, Uuid, usize) {
    played(pool, &[HELP], 6, 1, &[]).await;
    let judge = Endpoint::start_held(Duration::ZERO, |_| says(&verdict().to_string())).await;
    let player = play(pool);
    until("it plays", async || sqlx::query("SELECT FROM players").fetch_optional(pool).await.unwrap().is_some()).await;
    let arguments = ["judge", "--judge", &judge.model(), "--concurrency", "6"];
    let mut command = groundstate(pool, &arguments).spawn().unwrap();
    until("all are asked", async || judge.requests().len() == 6).await;
    let judging: Uuid = sqlx::query_scalar("SELECT id FROM judgings WHERE NOT original").fetch_one(pool).await.unwrap();
    assert_eq!(worker(pool, judging).await, Some(number(&command)));
    judge.answer_only(0..2);
    until("some are judged", async || verdicts(pool, judging).await == 2).await;
    command.kill().await.unwrap();
    drop(player);
    (judge, judging, 2)
}

/// How many verdicts a judging has.
async fn verdicts(pool: &PgPool, judging: Uuid) -> usize {
    let given = "SELECT count(*) FROM verdicts WHERE judging_id = $1";
    let given: i64 = sqlx::query_scalar(given).bind(judging).fetch_one(pool).await.unwrap();
    usize::try_from(given).unwrap()
}

/// One that hangs is given up; when it wakes it says nothing more of it.
#[sqlx::test(migrations = "../migrations")]
async fn a_judging_whose_process_hangs_goes_on_in_another_one(pool: PgPool) {
    let run = played(&pool, &[HELP], 4, 1, &[]).await;
    let judge = Endpoint::start_held(Duration::ZERO, |_| says(&verdict().to_string())).await;
    let judging = judging(&pool, &run, &[&judge.model()], None).await;
    let hanging = play(&pool);
    until("all are asked", async || judge.requests().len() == 4).await;
    kill_process(pid(&hanging), Signal::STOP).unwrap();
    let other = play(&pool);
    until("another one has it", async || worker(&pool, judging).await == Some(number(&other))).await;
    until("all are asked again", async || judge.requests().len() == 8).await;
    // Those of the one that hangs are answered, and it wakes while the other one is at it.
    judge.answer_only(0..4);
    kill_process(pid(&hanging), Signal::CONT).unwrap();
    let known = "SELECT count(*) FROM players WHERE pid = $1";
    until("it begins anew", async || {
        sqlx::query_scalar::<_, i64>(known).bind(number(&hanging)).fetch_one(&pool).await.unwrap() == 1
    })
    .await;
    assert_eq!(verdicts(&pool, judging).await, 0, "what it heard counts no more");
    assert_eq!(worker(&pool, judging).await, Some(number(&other)));
    judge.release();
    until("it is finished", async || state(&pool, judging).await == JobState::Finished).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn jobs_are_listed_and_cancelled(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let order = serde_json::json!({"name": "c"});
    let corpus: CorpusSummary = app.post("/api/v1/projects/default/corpora", &order).await;
    let job = crate::support::jobs::of(&pool, JobKind::Corpus, corpus.id.parse().unwrap()).await.id;
    let listed = run(&pool, "jobs list").await.stdout;
    assert_eq!(listed.lines().nth(1).map(str::trim_end), Some(format!("{job}  corpus     queued").as_str()));
    let cancelled = run(&pool, &format!("jobs cancel {job}")).await;
    assert_eq!((cancelled.code, cancelled.stdout), (Some(0), format!("the job {job} is cancelled\n")));
    let again = run(&pool, &format!("jobs cancel {job}")).await;
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.starts_with("JOB: the job is cancelled already"), "{}", again.stderr);
    let action = "SELECT action FROM audit_log ORDER BY id DESC LIMIT 1";
    let action: String = sqlx::query_scalar(action).fetch_one(&pool).await.unwrap();
    assert_eq!(action, "groundstate jobs cancel");
}

/// A corpus that a command selects is a job: what becomes of the command, somebody selects it.
#[sqlx::test(migrations = "../migrations")]
async fn a_corpus_whose_command_is_killed_is_selected_by_a_server(pool: PgPool) {
    played(&pool, &[HELP], 4, 1, &[]).await;
    let held = TableLock::lock(&pool, "events").await;
    let mut command = groundstate(&pool, &["corpora", "create", "c"]).spawn().unwrap();
    held.until(|waiting| waiting > 0).await;
    command.kill().await.unwrap();
    let _server = play(&pool);
    held.release().await;
    let ready = async || {
        let hash = "SELECT manifest_hash FROM corpora WHERE name = 'c'";
        sqlx::query_scalar::<_, Option<String>>(hash).fetch_one(&pool).await.unwrap().is_some()
    };
    until("it is selected", ready).await;
}
