//! Tokens that may only act in one episode.

use domain::access::Role;
use domain::api::episodes::{Episode, EpisodeState};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;
use uuid::Uuid;

use super::{EPISODES, at, filled, of, opened, say, scripted, words};
use crate::http::TestApp;
use crate::http::answers::player;
use crate::support::play::{HELP, TRANSFER};

#[sqlx::test(migrations = "../migrations")]
async fn a_token_of_an_episode_plays_its_agent_and_does_nothing_else(pool: PgPool) {
    let expected = scripted(&pool, TRANSFER).await;
    let app = filled(&pool).await;
    let runner = app.member(Role::Runner).await;
    let _player = player(&pool, 4);
    let mut order = of(TRANSFER);
    (order["samples"], order["token"]) = (json!(2), json!(true));
    let made = runner.request(Method::POST, EPISODES).json(&order).send().await.unwrap();
    assert_eq!((made.status(), made.headers()["cache-control"].as_bytes()), (StatusCode::CREATED, &b"no-store"[..]));
    let group: Vec<Episode> = made.json().await.unwrap();
    let [own, other] = &group[..] else { panic!("{group:?}") };
    let secret = own.token.clone().unwrap();
    assert!(secret.starts_with("gse_") && other.token.as_ref() != Some(&secret));
    let agent = app.with_token(secret);

    let seen: Episode = agent.json(&at(own, "")).await;
    assert_eq!((&seen.messages, seen.turn, seen.token.as_deref()), (&own.messages, own.turn, None));
    assert!(own.reward_if_ended.is_some() && seen.reward_if_ended.is_none(), "the agent learns no reward");
    let client = json!({"name": "test", "version": "1"});
    let initialize = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize});
    let mcp = agent.request(Method::POST, &at(own, "/mcp")).header("accept", "application/json, text/event-stream");
    assert!(mcp.json(&initialize).send().await.unwrap().status().is_success());

    let run = format!("/api/v1/runs/{}", own.run);
    let conversation = format!("/api/v1/conversations/{}", own.id);
    for (method, path) in [
        (Method::DELETE, at(own, "")),
        (Method::GET, at(other, "")),
        (Method::POST, at(other, "/messages")),
        (Method::POST, at(other, "/verify")),
        (Method::POST, at(other, "/mcp")),
        (Method::POST, EPISODES.to_owned()),
        (Method::GET, conversation),
        (Method::GET, run),
        (Method::GET, "/api/v1/projects".to_owned()),
        (Method::GET, format!("/api/v1/projects/default/scenarios/{TRANSFER}")),
        (Method::GET, "/api/v1/session".to_owned()),
        (Method::POST, "/api/v1/tokens".to_owned()),
        (Method::GET, "/api/v1/users".to_owned()),
        (Method::POST, "/tasks".to_owned()),
    ] {
        let (status, answer) = agent.send(method.clone(), &path, &json!({})).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{method} {path}: {answer}");
    }

    let last = say(&agent, &seen, words(&expected)).await;
    assert_eq!((last.state, last.result), (EpisodeState::Ended, None));
    let ended: Episode = agent.json(&at(own, "")).await;
    assert_eq!((ended.state, ended.result), (EpisodeState::Ended, None), "it reads the messages on");
    let ended: Episode = runner.json(&at(own, "")).await;
    assert_eq!(ended.result.unwrap().reward, Some(1));
    assert_eq!(runner.json::<Episode>(&at(other, "")).await.state, EpisodeState::Waiting);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_token_of_an_episode_lasts_as_long_as_its_owner_may_play(pool: PgPool) {
    let app = filled(&pool).await;
    let runner = app.member(Role::Runner).await;
    let _player = player(&pool, 4);
    let mut order = of(HELP);
    (order["id"], order["token"]) = (json!(Uuid::new_v4()), json!(true));
    let first = opened(&runner, &order).await;
    let with = |episode: &Episode| app.with_token(episode.token.clone().unwrap());
    assert_eq!(with(&first).status(&at(&first, "")).await, StatusCode::OK);
    // The same request again, as after a lost answer: the secret that nobody heard is void.
    let again = opened(&runner, &order).await;
    assert_eq!(again.id, first.id);
    assert_eq!(with(&first).status(&at(&first, "")).await, StatusCode::UNAUTHORIZED);
    assert_eq!(with(&again).status(&at(&first, "")).await, StatusCode::OK);
    let made_up = app.with_token("gse_nothing".to_owned());
    assert_eq!(made_up.status(&at(&first, "")).await, StatusCode::UNAUTHORIZED);

    let name: String = sqlx::query_scalar("SELECT name FROM users JOIN episode_tokens ON user_id = users.id")
        .fetch_one(&pool)
        .await
        .unwrap();
    let member = format!("/api/v1/projects/default/members/{name}");
    let (status, answer) = app.send(Method::PUT, &member, &json!({"role": "viewer"})).await;
    assert!(status.is_success(), "{answer}");
    let said: (StatusCode, Value) = with(&again).send(Method::POST, &at(&first, "/messages"), &json!({})).await;
    assert_eq!(said.0, StatusCode::FORBIDDEN, "{}", said.1);
    let (status, answer) = app.send(Method::PATCH, &format!("/api/v1/users/{name}"), &json!({"disabled": true})).await;
    assert!(status.is_success(), "{answer}");
    assert_eq!(with(&again).status(&at(&first, "")).await, StatusCode::UNAUTHORIZED);
}

#[sqlx::test(migrations = "../migrations")]
async fn only_the_user_who_opened_an_episode_replaces_its_token(pool: PgPool) {
    let app = filled(&pool).await;
    let (owner, other) = (app.member(Role::Runner).await, app.member(Role::Runner).await);
    let _player = player(&pool, 4);
    let mut order = of(HELP);
    (order["id"], order["token"]) = (json!(Uuid::new_v4()), json!(true));
    let episode = opened(&owner, &order).await;
    let agent = app.with_token(episode.token.clone().unwrap());
    let refused = other.refused(EPISODES, &order).await;
    assert_eq!(refused[0].0, "/token", "{refused:?}");
    assert_eq!(agent.status(&at(&episode, "")).await, StatusCode::OK);
    // The episode itself is the project's.
    order["token"] = json!(false);
    let found = opened(&other, &order).await;
    assert_eq!((&found.id, found.token.as_deref()), (&episode.id, None));
    assert_eq!(agent.status(&at(&episode, "")).await, StatusCode::OK);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_token_of_an_episode_does_not_get_answers_to_its_owner(pool: PgPool) {
    let app = filled(&pool).await;
    let runner = app.member(Role::Runner).await;
    let _player = player(&pool, 4);
    let mut order = of(HELP);
    order["token"] = json!(true);
    let episode = opened(&runner, &order).await;
    let agent = app.with_token(episode.token.clone().unwrap());
    // One key for all of them.
    let verified = async |by: &TestApp| {
        let request = by.request(Method::POST, &at(&episode, "/verify")).header("idempotency-key", "once");
        let answer = request.json(&json!({})).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        let replayed = answer.headers().contains_key("idempotency-replayed");
        (replayed, answer.json::<Episode>().await.unwrap().result.is_some())
    };
    assert_eq!(verified(&runner).await, (false, true));
    assert_eq!(verified(&agent).await, (false, false));
    assert_eq!(verified(&agent).await, (true, false));
    assert_eq!(verified(&runner).await, (true, true));
}
