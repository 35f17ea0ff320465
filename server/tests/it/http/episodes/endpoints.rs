//! Episodes whose agent is an endpoint that the server asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::api::episodes::{Episode, EpisodeState};
use domain::event::{Event, EventKind};
use domain::outcome::Blame;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::control;
use tokio::time::timeout;
use uuid::Uuid;

use super::{EPISODES, at, events_of, filled, of, opened, scripted, words};
use crate::http::TestApp;
use crate::http::answers::player;
use crate::support::endpoint::{Endpoint, endless, status};
use crate::support::play::{HELP, TRANSFER};
use crate::support::tokens::{self, Template};
use crate::support::{ledger, until};

#[sqlx::test(migrations = "../migrations")]
async fn an_endpoint_plays_the_agent(pool: PgPool) {
    let expected = scripted(&pool, TRANSFER).await;
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let (words, next) = (words(&expected), Arc::new(AtomicUsize::new(0)));
    let endpoint = Endpoint::start(move |request| {
        tokens::whole(request, &words[next.fetch_add(1, Ordering::Relaxed)], Template::Extends)
    })
    .await;
    let url = endpoint.model().split_once('@').unwrap().1.to_owned();
    let mut order = of(TRANSFER);
    order["agent"] = json!({"url": url, "model": "test-model", "api_key": "secret-of-the-trainer", "token_ids": true});
    let episode = opened(&app, &order).await;
    assert_eq!(episode.state, EpisodeState::Ended, "{episode:?}");
    assert_eq!(episode.result.unwrap().reward, Some(1));
    let mut events = events_of(&pool, episode.id.parse().unwrap()).await;
    for event in &mut events {
        if let EventKind::AgentSpoke { sampling, .. } = &mut event.kind {
            let tokens = sampling.take().and_then(|sampling| sampling.tokens().cloned());
            assert_eq!(tokens.unwrap().policy, tokens::POLICY, "an episode has the tokens of its agent");
        }
    }
    assert_eq!(events, expected);
    let stored: i64 = sqlx::query_scalar("SELECT count(*) FROM runs WHERE spec::text LIKE '%secret%'")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(stored, 0);

    // A client that samples by itself sends its tokens, and may send them again if they are wrong.
    let (own, said) = (opened(&app, &of(TRANSFER)).await, json!({"token_ids": [7, 8], "logprobs": [-0.5]}));
    let mut message = json!({"content": "Good day. How can I help?", "tokens": said});
    assert_eq!(app.refused(&at(&own, "/messages"), &message).await[0].0, "/tokens/logprobs");
    message["tokens"] =
        json!({"prompt_token_ids": [1], "token_ids": [7, 8], "logprobs": [-0.5, -0.25], "policy": "step 3"});
    let _: Episode = app.post(&at(&own, "/messages"), &message).await;
    let sampled = events_of(&pool, own.id.parse().unwrap()).await.into_iter().find_map(|event| match event.kind {
        EventKind::AgentSpoke { sampling, .. } => sampling,
        _ => None,
    });
    let tokens = sampled.unwrap();
    let tokens = tokens.tokens().unwrap();
    assert_eq!(
        (&tokens.completion, &tokens.logprobs, tokens.policy.as_str()),
        (&vec![7, 8], &vec![-0.5, -0.25], "step 3")
    );

    // One that does not answer spoils the episode, and the agent is not to blame.
    let broken = Endpoint::start(|_| status(StatusCode::BAD_REQUEST.as_u16())).await;
    let url = broken.model().split_once('@').unwrap().1.to_owned();
    order["agent"] = json!({"url": url, "model": "test-model"});
    let result = opened(&app, &order).await.result.unwrap();
    assert_eq!((result.reward, result.blame), (None, Some(Blame::Infrastructure)), "{result:?}");
}

/// Says these words one after the other, by how many were said before. It answers when it is released.
async fn saying(said: Vec<Value>) -> Endpoint {
    Endpoint::start_held(Duration::ZERO, move |request| {
        let before = request["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "assistant");
        tokens::whole(request, &said[before.count()], Template::Extends)
    })
    .await
}

#[sqlx::test(migrations = "../migrations")]
async fn an_endpoint_is_asked_on_where_its_server_died(pool: PgPool) {
    let expected = scripted(&pool, TRANSFER).await;
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let endpoint = saying(words(&expected)).await;
    endpoint.answer_only(0..1);
    let url = endpoint.model().split_once('@').unwrap().1.to_owned();
    let order = |id: Uuid, key: Option<&str>| {
        let mut order = of(TRANSFER);
        order["id"] = json!(id);
        order["agent"] = json!({"url": url, "model": "test-model", "token_ids": true, "api_key": key});
        order
    };
    let (open, keyed) = (Uuid::new_v4(), Uuid::new_v4());
    let asked = async |order: Value, requests: usize| {
        let asks = tokio::spawn(app.request(Method::POST, EPISODES).json(&order).send());
        until("the endpoint is asked", async || endpoint.requests().len() >= requests).await;
        asks.abort();
    };
    asked(order(open, None), 2).await;
    asked(order(keyed, Some("secret-of-the-trainer")), 3).await;
    let asked: Episode = app.json(&format!("/api/v1/episodes/{open}")).await;
    assert_eq!(asked.state, EpisodeState::Playing, "the turn is the endpoint's, and not the client's");

    // The server dies. What it asked is answered never.
    drop(app);
    let lapsed = "UPDATE endpoint_agents SET leased_until = now() - interval '1 second' RETURNING endpoint::text";
    let stored: Vec<Option<String>> = sqlx::query_scalar(lapsed).fetch_all(&pool).await.unwrap();
    assert!(stored.iter().flatten().count() == 1 && !format!("{stored:?}").contains("secret"), "{stored:?}");
    endpoint.answer_only(endpoint.requests().len()..usize::MAX);
    let app = TestApp::start(&pool).await;
    let at = |id: Uuid| format!("/api/v1/episodes/{id}");
    until("the endpoint without a key is asked on", async || {
        app.json::<Episode>(&at(open)).await.state == EpisodeState::Ended
    })
    .await;
    // Of the other one the key is gone; whoever has it asks again, and it is the same episode.
    assert_eq!(app.json::<Episode>(&at(keyed)).await.state, EpisodeState::Waiting);
    let again = order(keyed, Some("secret-of-the-trainer"));
    let both = [&again, &again].map(|order| app.post::<Vec<Episode>>(EPISODES, order));
    for episodes in futures::future::join_all(both).await {
        assert_eq!((&episodes[0].id, episodes[0].state), (&keyed.to_string(), EpisodeState::Ended));
    }
    for id in [open, keyed] {
        let ended: Episode = app.json(&at(id)).await;
        assert_eq!(ended.result.unwrap().reward, Some(1));
        let said = |events: &[Event]| serde_json::to_string(&words(events)).unwrap();
        assert_eq!(said(&events_of(&pool, id).await), said(&expected));
    }
    let run: Uuid = app.json::<Episode>(&at(open)).await.run.parse().unwrap();
    ledger::check(&pool, run).await;
    until("nothing is leased any more", async || {
        sqlx::query_scalar::<_, i64>("SELECT count(*) FROM endpoint_agents").fetch_one(&pool).await.unwrap() == 0
    })
    .await;

    // An id of something else is taken.
    let other: Uuid = sqlx::query_scalar("SELECT id FROM tasks WHERE id <> ALL($1)")
        .bind(vec![open, keyed])
        .fetch_one(&pool)
        .await
        .unwrap();
    for taken in [other.to_string(), "not-an-id".to_owned()] {
        let mut order = of(TRANSFER);
        order["id"] = json!(taken.as_str());
        assert_eq!(app.refused(EPISODES, &order).await[0].0, "/id", "{taken}");
    }
}

/// A policy that talks without end would otherwise get away with it: trainers leave out what has no reward.
#[sqlx::test(migrations = "../migrations")]
async fn a_reply_that_is_cut_off_is_the_agents_fault(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let endpoint = Endpoint::start(|_| endless()).await;
    let url = endpoint.model().split_once('@').unwrap().1.to_owned();
    let mut order = of(HELP);
    order["agent"] = json!({"url": url, "model": "test-model"});
    let result = opened(&app, &order).await.result.unwrap();
    assert_eq!((result.reward, result.blame), (Some(0), Some(Blame::Agent)), "{result:?}");
    assert_eq!(result.penalties.refused_messages, 3);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_an_endpoint_says_while_the_run_is_paused_counts_afterwards(pool: PgPool) {
    let expected = scripted(&pool, TRANSFER).await;
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let endpoint = saying(words(&expected)).await;
    let url = endpoint.model().split_once('@').unwrap().1.to_owned();
    let id = Uuid::new_v4();
    let mut order = of(TRANSFER);
    order["id"] = json!(id);
    order["agent"] = json!({"url": url, "model": "test-model", "token_ids": true});
    let answer = tokio::spawn(app.request(Method::POST, EPISODES).json(&order).send());
    until("the endpoint is asked", async || endpoint.requests().len() == 1).await;
    let run: Uuid = app.json::<Episode>(&format!("/api/v1/episodes/{id}")).await.run.parse().unwrap();
    let mut db = pool.acquire().await.unwrap();
    control::pause(&mut db, run, Some("lunch")).await.unwrap();
    endpoint.release();
    tokio::time::sleep(Duration::from_millis(300)).await;
    control::resume(&mut db, run).await.unwrap();
    let answer = answer.await.unwrap().unwrap();
    assert_eq!(answer.status(), StatusCode::CREATED);
    let ended: Vec<Episode> = answer.json().await.unwrap();
    assert_eq!((ended[0].state, ended[0].result.as_ref().unwrap().reward), (EpisodeState::Ended, Some(1)));
    assert_eq!(endpoint.requests().len(), words(&expected).len(), "nothing was asked twice");
}

#[sqlx::test(migrations = "../migrations")]
async fn an_endpoint_is_not_waited_for_when_its_episode_has_ended(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let endpoint = Endpoint::start_held(Duration::ZERO, |_| endless()).await;
    let url = endpoint.model().split_once('@').unwrap().1.to_owned();
    let id = Uuid::new_v4();
    let mut order = of(HELP);
    order["id"] = json!(id);
    order["agent"] = json!({"url": url, "model": "test-model"});
    let answer = tokio::spawn(app.request(Method::POST, EPISODES).json(&order).send());
    until("the endpoint is asked", async || endpoint.in_flight() == 1).await;
    let episode: Episode = app.json(&format!("/api/v1/episodes/{id}")).await;
    let _: Value = app.post(&format!("/api/v1/runs/{}/cancel", episode.run), &json!({})).await;
    let ended: Vec<Episode> = answer.await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(ended[0].state, EpisodeState::Ended);
    until("the endpoint is left alone", async || endpoint.in_flight() == 0).await;
}

/// A server asks 256 endpoints at once: none may keep its place for ever.
#[sqlx::test(migrations = "../migrations")]
async fn an_endpoint_is_asked_no_more_when_its_episode_is_gone(pool: PgPool) {
    let app = filled(&pool).await;
    let playing = player(&pool, 4);
    let endpoint = Endpoint::start_held(Duration::ZERO, |_| endless()).await;
    let url = endpoint.model().split_once('@').unwrap().1.to_owned();
    let mut order = of(HELP);
    order["agent"] = json!({"url": url, "model": "test-model"});
    let answer = tokio::spawn(app.request(Method::POST, EPISODES).json(&order).send());
    until("the endpoint is asked", async || endpoint.in_flight() == 1).await;
    drop(playing);
    until("the player has gone", async || {
        sqlx::query_scalar::<_, i64>("SELECT count(*) FROM players WHERE plays").fetch_one(&pool).await.unwrap() == 0
    })
    .await;
    // As when its project is deleted.
    sqlx::query("DELETE FROM tasks").execute(&pool).await.unwrap();
    // While it is asked, the answer takes 50 seconds.
    let answer = timeout(Duration::from_secs(30), answer).await.unwrap().unwrap().unwrap();
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
    until("the endpoint is left alone", async || endpoint.in_flight() == 0).await;
}
