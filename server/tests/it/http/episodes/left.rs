//! Episodes that are opened and left.

use domain::api::Page;
use domain::api::episodes::{Episode, EpisodeState};
use domain::api::groups::{GroupSample, RunGroup};
use domain::outcome::Blame;
use futures::{StreamExt, stream};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::control;
use uuid::Uuid;

use super::{EPISODES, at, events_of, filled, of, opened, say, scripted, words};
use crate::http::answers::player;
use crate::support::play::{HELP, TRANSFER};
use crate::support::{ledger, until};

const GROUPS: usize = 20;
const SAMPLES: usize = 50;

async fn count(pool: &PgPool, query: &'static str, run: Uuid) -> usize {
    let found: i64 = sqlx::query_scalar(query).bind(run).fetch_one(pool).await.unwrap();
    usize::try_from(found).unwrap()
}

const ENDED: &str = "SELECT count(*) FROM tasks WHERE run_id = $1 AND outcome IS NOT NULL";
const REQUESTS: &str = "SELECT count(*) FROM requests WHERE run_id = $1";

#[sqlx::test(migrations = "../migrations")]
async fn a_thousand_that_are_left_are_given_up_and_nothing_else_is(pool: PgPool) {
    let expected = scripted(&pool, TRANSFER).await;
    let app = filled(&pool).await;
    let _player = player(&pool, 16);
    // One is played meanwhile, and another one may wait for longer.
    let (played, patient) = (opened(&app, &of(TRANSFER)).await, opened(&app, &of(HELP)).await);
    let mut first = words(&expected);
    let others = first.split_off(1);
    let played = say(&app, &played, first).await;

    let orders = (0..GROUPS).map(|group| {
        let mut order = of(HELP);
        order["environment"]["idle_seconds"] = json!(1);
        order["group"] = json!(group);
        order["samples"] = json!(SAMPLES);
        order
    });
    let open = |order: Value| {
        let app = &app;
        async move { app.post::<Vec<Episode>>(EPISODES, &order).await }
    };
    let left: Vec<Episode> = stream::iter(orders).map(open).buffer_unordered(4).concat().await;
    assert_eq!(left.len(), GROUPS * SAMPLES);
    let run: Uuid = left[0].run.parse().unwrap();
    assert!(left.iter().all(|episode| episode.run == left[0].run && episode.run != played.run));

    // The player looks for them by itself.
    until("the first are given up", async || count(&pool, ENDED, run).await > 0).await;
    let result = say(&app, &played, others).await.result.unwrap();
    assert_eq!((result.reward, result.blame), (Some(1), None), "{result:?}");
    assert_eq!(events_of(&pool, played.id.parse().unwrap()).await, expected);
    until("all are given up", async || count(&pool, ENDED, run).await == left.len()).await;
    assert_eq!(count(&pool, REQUESTS, run).await, 0);
    assert_eq!(app.json::<Episode>(&at(&patient, "")).await.state, EpisodeState::Waiting);

    let path = format!("/api/v1/runs/{run}/groups");
    let samples = async || {
        let groups = app.json::<Page<RunGroup>>(&path).await.items.into_iter();
        groups.flat_map(|group| group.samples).collect::<Vec<GroupSample>>()
    };
    let is_given_up = |sample: &GroupSample| sample.reward.is_none() && sample.blame == Some(Blame::Infrastructure);
    // What was read a moment ago is not read again at once.
    until("the groups tell it", async || {
        let samples = samples().await;
        samples.len() == left.len() && samples.iter().all(is_given_up)
    })
    .await;
    let shown: Episode = app.json(&at(&left[0], "")).await;
    let result = shown.result.unwrap();
    assert_eq!((result.reward, result.blame), (None, Some(Blame::Infrastructure)));
    assert_eq!(result.reason.as_deref(), Some("nobody answered within 1 seconds"));
    let closed = app.request(Method::DELETE, &at(&patient, "")).send().await.unwrap();
    assert_eq!(closed.status(), StatusCode::NO_CONTENT);
    for run in [run, played.run.parse().unwrap()] {
        control::cancel(&mut pool.acquire().await.unwrap(), run).await.unwrap();
        ledger::check(&pool, run).await;
    }
}
