//! Judging again, without playing.

use datasets::export::Choice;
use domain::api::JobSummary;
use domain::job::{JobKind, JobState};
use domain::outcome::Outcome;
use domain::role::Role;
use generation::ConversationRun;
use projects::library::Library;
use serde_json::json;
use sqlx::PgPool;
use store::verdicts;
use uuid::Uuid;

use crate::support::agent::verdict;
use crate::support::endpoint::{Endpoint, says};
use crate::support::jobs;
use crate::support::library;
use crate::support::play::{HELP, TRANSFER, exported, exported_rows, played, rows};

/// Judges a run again, by models and by the judges of these documents or its own.
async fn judged(pool: &PgPool, run: &ConversationRun, models: &[&str], judges: Option<&Library>) -> (Uuid, JobSummary) {
    let judging = jobs::judging(pool, run, models, judges).await;
    let files = tempfile::tempdir().unwrap();
    (judging, jobs::done(pool, files.path(), JobKind::Judging, judging).await)
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_is_judged_again_and_the_first_verdicts_stay(pool: PgPool) {
    let player = played(&pool, &[HELP, TRANSFER], 4, 1, &[]).await;
    let (_, before) = exported(&player, true).await;
    let mut strict = verdict();
    strict["overall"] = json!(3);
    let endpoint = Endpoint::start(move |_| says(&strict.to_string())).await;
    let (judging, job) = judged(&pool, &player, &[&endpoint.model()], None).await;
    assert_eq!(job.state, JobState::Finished);
    // Each verdict takes 11 tokens, of which 4 are cached, and writes 7.
    let usage = json!({"prompt_tokens": 44, "cached_tokens": 16, "completion_tokens": 28});
    assert_eq!(job.report.unwrap(), json!({"judged": 4, "without_verdict": 0, "usage": usage}));
    let said = verdicts::of(&mut pool.acquire().await.unwrap(), judging).await.unwrap();
    assert!(said.len() == 4 && said.values().all(|judged| judged.outcome != Outcome::Accepted));
    let asked = endpoint.requests();
    assert_eq!(asked.len(), 4, "one question for each conversation");
    assert!(asked[0].to_string().contains("call_1"), "the judge reads what was played");

    assert_eq!(exported(&player, true).await.1, before, "the run's own rows are as they were");
    let choice = Choice { judging: Some(judging), ..Choice::to_imitate(false, false) };
    let (written, _) = exported_rows(&player, choice).await;
    assert_eq!((written.report.rows, written.report.not_accepted), (0, 4));
    let (_, all) = exported_rows(&player, Choice { wanted: Choice::to_imitate(true, false).wanted, ..choice }).await;
    let row: serde_json::Value = serde_json::from_str(all.lines().next().unwrap()).unwrap();
    assert_eq!((&row["metadata"]["overall"], &row["metadata"]["accepted"]), (&json!(3), &json!(false)));
    assert_eq!(row["metadata"]["judge"]["models"], json!([endpoint.model()]));
}

#[sqlx::test(migrations = "../migrations")]
async fn what_no_judge_could_read_is_left_for_later_or_blamed(pool: PgPool) {
    let player = played(&pool, &[HELP], 2, 1, &[]).await;
    let (_, down) = judged(&pool, &player, &["test-model@http://127.0.0.1:9/v1"], None).await;
    let reason = "2 conversations have no verdict: the endpoint did not answer; resume the judging";
    assert_eq!((down.state, down.reason.as_deref()), (JobState::Failed, Some(reason)));
    let nothing = json!({"prompt_tokens": 0, "completion_tokens": 0});
    assert_eq!(down.report.unwrap(), json!({"judged": 2, "without_verdict": 2, "usage": nothing}));

    let endpoint = Endpoint::start(|_| says("no verdict")).await;
    let (garbled, job) = judged(&pool, &player, &[&endpoint.model()], None).await;
    assert_eq!((job.state, &job.report.unwrap()["without_verdict"]), (JobState::Finished, &json!(2)));
    let said = verdicts::of(&mut pool.acquire().await.unwrap(), garbled).await.unwrap();
    assert!(said.values().all(|judged| judged.verdict.is_none()) && said.len() == 2);
    assert_eq!(rows(&player).await.len(), 2);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_conversation_whose_judge_failed_gets_its_verdict_later(pool: PgPool) {
    let endpoint = Endpoint::start(|_| says("no verdict")).await;
    let player = played(&pool, &[HELP], 1, 1, &[(Role::Judge, endpoint.model())]).await;
    assert_eq!(rows(&player).await.len(), 0);
    let (judging, _) = judged(&pool, &player, &["scripted"], None).await;
    let choice = Choice { judging: Some(judging), ..Choice::to_imitate(false, false) };
    assert_eq!(exported_rows(&player, choice).await.0.report.rows, 1);
}

#[sqlx::test(migrations = "../migrations")]
async fn other_criteria_may_be_asked_for(pool: PgPool) {
    let player = played(&pool, &[HELP], 1, 1, &[]).await;
    let mut files = library().files.clone();
    let judge = files.get("judges/default/judge.yaml").unwrap().replace("name: consistency", "name: steadiness");
    files.insert("judges/default/judge.yaml", judge);
    let others = Library::assemble_proved(files).unwrap();
    let (judging, _) = judged(&pool, &player, &["scripted"], Some(&others)).await;
    let choice = Choice { judging: Some(judging), ..Choice::to_imitate(false, false) };
    let (_, rows) = exported_rows(&player, choice).await;
    let row: serde_json::Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    assert_eq!(row["metadata"]["scores"]["steadiness"], json!(9));
    assert!(row["metadata"]["scores"].get("consistency").is_none());
    assert_ne!(row["metadata"]["judge"]["version"], serde_json::Value::Null);
}

#[sqlx::test(migrations = "../migrations")]
async fn half_a_panel_has_said_nothing(pool: PgPool) {
    let player = played(&pool, &[HELP], 1, 1, &[]).await;
    let good = Endpoint::start(|_| says(&verdict().to_string())).await;
    let models = [&*good.model(), "test-model@http://127.0.0.1:9/v1"];
    let (judging, job) = judged(&pool, &player, &models, None).await;
    assert_eq!(job.report.unwrap()["without_verdict"], 1, "nothing is stored");
    let choice = Choice { judging: Some(judging), ..Choice::to_imitate(true, false) };
    let (written, _) = exported_rows(&player, choice).await;
    assert_eq!((written.report.rows, written.report.not_judged), (0, 1));
}
