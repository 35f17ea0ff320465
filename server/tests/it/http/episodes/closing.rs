//! DELETE /api/v1/episodes/{episode}.

use std::time::Duration;

use domain::api::episodes::{Episode, EpisodeState};
use domain::outcome::Blame;
use llm::PoolSpec;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{control, outside_requests};
use uuid::Uuid;

use super::{EPISODES, at, filled, filled_with, of, opened};
use crate::http::TestApp;
use crate::http::answers::player;
use crate::support::endpoint::{Endpoint, says};
use crate::support::play::HELP;
use crate::support::{ledger, until};

async fn close(app: &TestApp, episode: &Episode) -> (StatusCode, Value) {
    app.send(Method::DELETE, &at(episode, ""), &json!({})).await
}

async fn look(app: &TestApp, episode: &Episode) -> Episode {
    app.json(&at(episode, "")).await
}

fn assert_given_up(episode: &Episode) {
    assert_eq!(episode.state, EpisodeState::Ended, "{episode:?}");
    let result = episode.result.as_ref().unwrap();
    assert_eq!((result.reward, result.blame), (None, Some(Blame::Infrastructure)), "{result:?}");
    assert_eq!(result.reason.as_deref(), Some("it was closed before its end"));
}

async fn count(pool: &PgPool, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(pool).await.unwrap()
}

const CLAIMS: &str = "SELECT count(*) FROM claims";
const REQUESTS: &str = "SELECT count(*) FROM requests";
const PLAYERS: &str = "SELECT count(*) FROM players WHERE plays";

/// Of an episode that has ended. It was counted once.
async fn nothing_is_left(pool: &PgPool, episode: &Episode) {
    until("it is claimed no more", async || count(pool, CLAIMS).await == 0).await;
    assert_eq!(count(pool, REQUESTS).await, 0);
    let run: Uuid = episode.run.parse().unwrap();
    control::cancel(&mut pool.acquire().await.unwrap(), run).await.unwrap();
    ledger::check(pool, run).await;
}

/// An episode that waits for its agent, and that no player has.
async fn parked(app: &TestApp, pool: &PgPool) -> Episode {
    let episode = opened(app, &of(HELP)).await;
    until("it leaves its player", async || count(pool, CLAIMS).await == 0).await;
    episode
}

/// As [`parked`], where nobody plays.
async fn parked_without_player(app: &TestApp, pool: &PgPool) -> Episode {
    let playing = player(pool, 4);
    let episode = parked(app, pool).await;
    drop(playing);
    until("the player has gone", async || count(pool, PLAYERS).await == 0).await;
    episode
}

#[sqlx::test(migrations = "../migrations")]
async fn an_episode_is_closed_while_its_user_thinks(pool: PgPool) {
    let thinking = Endpoint::start_held(Duration::ZERO, |_| says("Good day.")).await;
    let url = thinking.model().split_once('@').unwrap().1.to_owned();
    let app = filled_with(&pool, [PoolSpec::new("thinking", vec![url])].into_iter().collect()).await;
    let _player = player(&pool, 4);
    let id = Uuid::new_v4();
    let mut order = of(HELP);
    order["id"] = json!(id);
    order["environment"]["models"] = json!({"simulated_user": "thinking"});
    let opening = tokio::spawn(app.request(Method::POST, EPISODES).json(&order).send());
    until("the user is asked", async || thinking.in_flight() == 1).await;
    let closed = app.request(Method::DELETE, &format!("/api/v1/episodes/{id}")).send().await.unwrap();
    assert_eq!(closed.status(), StatusCode::NO_CONTENT);
    let ended: Episode = app.json(&format!("/api/v1/episodes/{id}")).await;
    assert_given_up(&ended);
    until("the user is asked no more", async || thinking.in_flight() == 0).await;
    let opened: Vec<Episode> = opening.await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(opened[0].state, EpisodeState::Ended);
    nothing_is_left(&pool, &ended).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn an_episode_is_closed_while_it_waits_for_its_agent(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let episode = parked(&app, &pool).await;
    assert_eq!(close(&app, &episode).await.0, StatusCode::NO_CONTENT);
    assert_given_up(&look(&app, &episode).await);
    assert_eq!(close(&app, &episode).await.0, StatusCode::NO_CONTENT, "it has ended already");
    nothing_is_left(&pool, &episode).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn an_episode_of_a_paused_run_is_not_closed(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let episode = parked(&app, &pool).await;
    let (run, mut db): (Uuid, _) = (episode.run.parse().unwrap(), pool.acquire().await.unwrap());
    control::pause(&mut db, run, Some("lunch")).await.unwrap();
    let (status, problem) = close(&app, &episode).await;
    assert_eq!(status, StatusCode::CONFLICT, "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("paused: lunch; resume it first"), "{problem}");
    control::resume(&mut db, run).await.unwrap();
    assert_eq!(look(&app, &episode).await.state, EpisodeState::Waiting);
    assert_eq!(close(&app, &episode).await.0, StatusCode::NO_CONTENT);
    assert_given_up(&look(&app, &episode).await);
    nothing_is_left(&pool, &episode).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn an_episode_that_nobody_plays_ends_once_somebody_does(pool: PgPool) {
    let app = filled(&pool).await;
    let episode = parked_without_player(&app, &pool).await;
    assert_eq!(close(&app, &episode).await.0, StatusCode::NO_CONTENT);
    assert_eq!(look(&app, &episode).await.state, EpisodeState::Waiting);
    let _player = player(&pool, 4);
    until("it has ended", async || look(&app, &episode).await.state == EpisodeState::Ended).await;
    assert_given_up(&look(&app, &episode).await);
    nothing_is_left(&pool, &episode).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn an_episode_that_is_closed_when_its_agent_speaks_ends_once(pool: PgPool) {
    let app = filled(&pool).await;
    let message = json!({"content": "Good day."});
    for closed_first in [true, false] {
        let episode = parked_without_player(&app, &pool).await;
        if closed_first {
            assert_eq!(close(&app, &episode).await.0, StatusCode::NO_CONTENT);
        }
        let _: Episode = app.post(&at(&episode, "/messages"), &message).await;
        if !closed_first {
            assert_eq!(close(&app, &episode).await.0, StatusCode::NO_CONTENT);
        }
        // The player finds both.
        let playing = player(&pool, 4);
        until("it has ended", async || look(&app, &episode).await.state == EpisodeState::Ended).await;
        assert_given_up(&look(&app, &episode).await);
        nothing_is_left(&pool, &episode).await;
        drop(playing);
        until("the player has gone", async || count(&pool, PLAYERS).await == 0).await;
    }
    let _player = player(&pool, 4);
    let episode = parked(&app, &pool).await;
    let messages = at(&episode, "/messages");
    let (said, closed) = tokio::join!(app.send(Method::POST, &messages, &message), close(&app, &episode));
    assert!([StatusCode::OK, StatusCode::CONFLICT].contains(&said.0), "{said:?}");
    assert_eq!(closed.0, StatusCode::NO_CONTENT);
    assert_given_up(&look(&app, &episode).await);
    nothing_is_left(&pool, &episode).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn an_episode_whose_run_is_cancelled_in_the_same_moment_leaves_no_request(pool: PgPool) {
    let app = filled(&pool).await;
    let episode = parked_without_player(&app, &pool).await;
    let (id, run): (Uuid, Uuid) = (episode.id.parse().unwrap(), episode.run.parse().unwrap());
    // As `control::cancel`, before it commits.
    let mut cancelling = pool.begin().await.unwrap();
    sqlx::query("UPDATE runs SET state = 'cancelled', finished_at = now() WHERE id = $1")
        .bind(run)
        .execute(&mut *cancelling)
        .await
        .unwrap();
    sqlx::query("DELETE FROM requests WHERE run_id = $1").bind(run).execute(&mut *cancelling).await.unwrap();
    let own = pool.clone();
    let closing = tokio::spawn(async move {
        outside_requests::end_early(&mut *own.acquire().await?, id, "it was closed before its end").await
    });
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    until("it waits for the run", async || count(&pool, waiting).await > 0).await;
    cancelling.commit().await.unwrap();
    closing.await.unwrap().unwrap();
    assert_eq!((count(&pool, REQUESTS).await, count(&pool, CLAIMS).await), (0, 0));
}
