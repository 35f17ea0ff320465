//! Judging again, without playing.

use datasets::export::Choice;
use domain::outcome::Outcome;
use domain::role::Role;
use generation::Conversations;
use generation::judge_again::{self, Judge};
use generation::{ConversationRun, stored};
use serde_json::json;
use sqlx::PgPool;
use store::verdicts;

use crate::support::agent::verdict;
use crate::support::endpoint::{Endpoint, says};
use crate::support::library;
use crate::support::play::{HELP, TRANSFER, exported, exported_rows, panel, played, rows};

/// A new judging of a run by a model.
async fn judging(pool: &PgPool, player: &ConversationRun, model: &str) -> Judge {
    let models = [model.parse().unwrap()];
    let judging = judge_again::plan(&player.control.run, &player.kind.library, &models).unwrap();
    judge_again::store(&mut pool.acquire().await.unwrap(), &judging, &player.kind.library).await.unwrap();
    let (run, config, library) = stored::load(pool, player.control.run.id).await.unwrap();
    let kind = Conversations::judged_by(library.into(), config, panel(&models)).unwrap();
    Judge { run: ConversationRun::new(pool, run, kind), judges: None, judging, lease: None }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_is_judged_again_and_the_first_verdicts_stay(pool: PgPool) {
    let player = played(&pool, &[HELP, TRANSFER], 4, 1, &[]).await;
    let (_, before) = exported(&player, true).await;
    let mut strict = verdict();
    strict["overall"] = json!(3);
    let endpoint = Endpoint::start(move |_| says(&strict.to_string())).await;
    let again = judging(&pool, &player, &endpoint.model()).await;
    let left = again.left().await.unwrap();
    assert_eq!(left.len(), 4);
    let mut outcomes = Vec::new();
    again.judge_all(&left, 2, |rejudged| outcomes.push(rejudged.outcome.clone())).await.unwrap();
    assert!(outcomes.iter().all(|outcome| *outcome != Outcome::Accepted));
    assert!(again.left().await.unwrap().is_empty(), "it is complete");
    let asked = endpoint.requests();
    assert_eq!(asked.len(), 4, "one question for each conversation");
    assert!(asked[0].to_string().contains("call_1"), "the judge reads what was played");

    assert_eq!(exported(&player, true).await.1, before, "the run's own rows are as they were");
    let choice = Choice { judging: Some(again.judging.id), ..Choice::default() };
    let (written, _) = exported_rows(&player, choice).await;
    assert_eq!((written.rows, written.not_accepted), (0, 4));
    let (_, all) = exported_rows(&player, Choice { all: true, ..choice }).await;
    let row: serde_json::Value = serde_json::from_str(all.lines().next().unwrap()).unwrap();
    assert_eq!((&row["metadata"]["overall"], &row["metadata"]["accepted"]), (&json!(3), &json!(false)));
    assert_eq!(row["metadata"]["judge"]["models"], json!([endpoint.model()]));
}

#[sqlx::test(migrations = "../migrations")]
async fn what_no_judge_could_read_is_left_for_later_or_blamed(pool: PgPool) {
    let player = played(&pool, &[HELP], 2, 1, &[]).await;
    let down = judging(&pool, &player, "test-model@http://127.0.0.1:9/v1").await;
    let left = down.left().await.unwrap();
    down.judge_all(&left, 2, |_| {}).await.unwrap();
    assert_eq!(down.left().await.unwrap().len(), 2, "an endpoint that is down costs nothing");

    let endpoint = Endpoint::start(|_| says("no verdict")).await;
    let garbled = judging(&pool, &player, &endpoint.model()).await;
    garbled.judge_all(&left, 2, |_| {}).await.unwrap();
    let said = verdicts::of(&mut pool.acquire().await.unwrap(), garbled.judging.id).await.unwrap();
    assert!(said.values().all(|judged| judged.verdict.is_none()) && said.len() == 2);
    assert_eq!(rows(&player).await.len(), 2);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_conversation_whose_judge_failed_gets_its_verdict_later(pool: PgPool) {
    let endpoint = Endpoint::start(|_| says("no verdict")).await;
    let player = played(&pool, &[HELP], 1, 1, &[(Role::Judge, endpoint.model())]).await;
    assert_eq!(rows(&player).await.len(), 0);
    let again = judging(&pool, &player, "scripted").await;
    again.judge_all(&again.left().await.unwrap(), 1, |_| {}).await.unwrap();
    let choice = Choice { judging: Some(again.judging.id), ..Choice::default() };
    assert_eq!(exported_rows(&player, choice).await.0.rows, 1);
}

#[sqlx::test(migrations = "../migrations")]
async fn other_criteria_may_be_asked_for(pool: PgPool) {
    let player = played(&pool, &[HELP], 1, 1, &[]).await;
    let mut files = library().files.clone();
    let judge = files.get("judges/default/judge.yaml").unwrap().replace("name: consistency", "name: steadiness");
    files.insert("judges/default/judge.yaml", judge);
    let others = projects::library::Library::assemble_proved(files).unwrap();
    let models = ["scripted".parse().unwrap()];
    let made = judge_again::plan(&player.control.run, &others, &models).unwrap();
    judge_again::store(&mut pool.acquire().await.unwrap(), &made, &others).await.unwrap();
    let (run, config, library) = stored::load(&pool, player.control.run.id).await.unwrap();
    let kind = Conversations::judged_by(library.into(), config, panel(&models)).unwrap();
    let again = Judge { run: ConversationRun::new(&pool, run, kind), judges: Some(others), judging: made, lease: None };
    again.judge_all(&again.left().await.unwrap(), 1, |_| {}).await.unwrap();
    let choice = Choice { judging: Some(again.judging.id), ..Choice::default() };
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
    let models = [good.model().parse().unwrap(), "test-model@http://127.0.0.1:9/v1".parse().unwrap()];
    let made = judge_again::plan(&player.control.run, &player.kind.library, &models).unwrap();
    judge_again::store(&mut pool.acquire().await.unwrap(), &made, &player.kind.library).await.unwrap();
    let (run, config, library) = stored::load(&pool, player.control.run.id).await.unwrap();
    let kind = Conversations::judged_by(library.into(), config, panel(&models)).unwrap();
    let again = Judge { run: ConversationRun::new(&pool, run, kind), judges: None, judging: made, lease: None };
    again.judge_all(&again.left().await.unwrap(), 1, |_| {}).await.unwrap();
    assert_eq!(again.left().await.unwrap().len(), 1, "nothing is stored");
    let choice = Choice { judging: Some(again.judging.id), all: true, ..Choice::default() };
    let (written, _) = exported_rows(&player, choice).await;
    assert_eq!((written.rows, written.not_judged), (0, 1));
}
