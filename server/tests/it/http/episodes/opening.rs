//! Episodes that are opened at the same time share a transaction, and nothing else.

use domain::api::RunState;
use domain::api::episodes::Episode;
use futures::future::join_all;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;
use uuid::Uuid;

use super::{EPISODES, SEED, filled};
use crate::http::TestApp;
use crate::http::answers::own_player;
use crate::support::play::{HELP, TRANSFER};

fn environment(more: &Value) -> Value {
    let mut environment = json!({"playbooks": ["retail_bank"], "seed": SEED});
    environment.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    environment
}

async fn open(app: &TestApp, body: Value) -> (StatusCode, Value) {
    app.send(Method::POST, EPISODES, &body).await
}

fn id(answer: &Value) -> Uuid {
    answer[0]["id"].as_str().unwrap().parse().unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn one_that_is_refused_does_not_stop_the_others(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = own_player(&app, 64);
    let (good, small) = (environment(&json!({})), environment(&json!({"budget": {"conversations": 3}})));
    let same: Uuid = store::clock::id();
    let mut bodies = Vec::new();
    for group in 0..12 {
        bodies.push(json!({"environment": good, "scenario": HELP, "group": group}));
        bodies.push(json!({"environment": small, "scenario": TRANSFER, "group": group}));
    }
    bodies.push(json!({"environment": good, "scenario": "no_such_scenario"}));
    bodies.extend((0..4).map(|_| json!({"environment": good, "scenario": HELP, "id": same})));
    let answers = join_all(bodies.into_iter().map(|body| open(&app, body))).await;
    let of = |status: StatusCode| answers.iter().filter(|(own, _)| *own == status).collect::<Vec<_>>();
    // All of the large one, three of the small one, and one episode for the id that four ask for.
    assert_eq!(of(StatusCode::CREATED).len(), 12 + 3 + 4, "{answers:?}");
    let refused = of(StatusCode::CONFLICT);
    assert_eq!(refused.len(), 9, "{refused:?}");
    assert!(refused.iter().all(|(_, why)| why["detail"].as_str().unwrap().contains("is used up")), "{refused:?}");
    assert_eq!(of(StatusCode::UNPROCESSABLE_ENTITY).len(), 1);
    let twice = answers[25..].iter().filter(|(_, answer)| id(answer) == same).count();
    assert_eq!(twice, 4);
    for (_, answer) in of(StatusCode::CREATED) {
        let episode: Vec<Episode> = serde_json::from_value(answer.clone()).unwrap();
        assert!(episode[0].turn.is_some(), "its first turn was waited for: {episode:?}");
    }
    let uneven = "SELECT count(*) FROM runs WHERE kind = 'episodes' AND (planned::bigint, next_position::bigint) <>
                      (SELECT count(*), max(position)::bigint + 1 FROM tasks WHERE run_id = runs.id)";
    let uneven: i64 = sqlx::query_scalar(uneven).fetch_one(&pool).await.unwrap();
    assert_eq!(uneven, 0, "each run has as many tasks as were opened");
}

#[sqlx::test(migrations = "../migrations")]
async fn each_is_in_the_audit_log_once_or_not_at_all(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = own_player(&app, 64);
    let (good, paused) = (environment(&json!({})), environment(&json!({"seed": SEED + 1})));
    let (status, first) = open(&app, json!({"environment": paused, "scenario": HELP})).await;
    assert_eq!(status, StatusCode::CREATED, "{first}");
    let run: Uuid = first[0]["run"].as_str().unwrap().parse().unwrap();
    let (status, answer) = app.send(Method::POST, &format!("/api/v1/runs/{run}/pause"), &json!({})).await;
    assert!(status.is_success(), "{answer}");
    let bodies = (0..20).map(|i| json!({"environment": if i % 2 == 0 { &good } else { &paused }, "scenario": HELP}));
    let answers = join_all(bodies.map(|body| open(&app, body))).await;
    let opened = answers.iter().filter(|(status, _)| *status == StatusCode::CREATED).count();
    assert_eq!(opened, 10, "{answers:?}");
    let refused = answers.iter().filter(|(status, _)| *status == StatusCode::CONFLICT);
    assert!(refused.clone().all(|(_, why)| why["detail"].as_str().unwrap().contains("is paused")), "{answers:?}");
    let logged = "SELECT count(*) FROM audit_log WHERE action = 'POST /api/v1/projects/{project}/episodes'";
    let logged: i64 = sqlx::query_scalar(logged).fetch_one(&pool).await.unwrap();
    assert_eq!(logged, 11);
    let state: String =
        sqlx::query_scalar("SELECT state FROM runs WHERE id = $1").bind(run).fetch_one(&pool).await.unwrap();
    assert_eq!(state.parse(), Ok(RunState::Paused));
}
