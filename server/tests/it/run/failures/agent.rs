//! Agents that make calls no tool accepts, or say nothing.

use axum::response::Response;
use domain::outcome::{Blame, Outcome};
use domain::role::Role;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::runs;

use crate::support::agent::help;
use crate::support::endpoint::{Endpoint, calls, endless, says};
use crate::support::play::{HELP, exported, played, rows, stories};

fn unknown() -> Response {
    calls(&[("search_halp", json!({"query": "abroad"}))], "Let me look it up.")
}

fn invalid() -> Response {
    calls(&[("search_help", json!({"question": "abroad"}))], "Let me look it up.")
}

/// Makes a bad call first, and then does everything right.
async fn check(pool: &PgPool, bad: fn() -> Response, answer: &str) {
    let endpoint = Endpoint::start(move |request: &Value| {
        let told = request["messages"].to_string().contains("Error: ");
        let solved = request["messages"].to_string().contains("art_card_abroad");
        match (told, solved) {
            (false, _) => bad(),
            (true, false) => calls(&[("search_help", json!({"query": "paying abroad"}))], "That was wrong."),
            (true, true) => help(request),
        }
    })
    .await;
    let player = played(pool, &[HELP], 1, 1, &[(Role::Agent, endpoint.model())]).await;
    let story = &stories(&player).await[0];
    story.assert_failed(Blame::Agent, answer);
    assert!(rows(&player).await.is_empty());
    let (written, text) = exported(&player, true).await;
    assert_eq!(text, "", "chat templates break on calls that no tool accepts");
    assert_eq!(written.unusable.len(), 1);
    assert!(written.unusable[0].1.contains("the agent made a call that"), "{:?}", written.unusable);
}

#[sqlx::test(migrations = "../migrations")]
async fn bad_calls_are_answered_with_an_error_and_blamed_even_when_mended(pool: PgPool) {
    check(&pool, unknown, "there is no tool `search_halp` (did you mean `search_help`?)").await;
    check(&pool, invalid, "invalid arguments for `search_help`").await;
}

#[sqlx::test(migrations = "../migrations")]
async fn what_no_database_stores_is_played_and_kept_all_the_same(pool: PgPool) {
    let bad = || says("<think>a\0b</think>It\0costs 1.75 %.");
    let endpoint = Endpoint::start(move |_| bad()).await;
    let player = played(&pool, &[HELP], 1, 1, &[(Role::Agent, endpoint.model())]).await;
    let (_, text) = exported(&player, true).await;
    assert!(text.contains("It\u{fffd}costs 1.75 %."), "{text}");
}

#[sqlx::test(migrations = "../migrations")]
async fn an_agent_that_only_ever_calls_is_stopped(pool: PgPool) {
    let endpoint = Endpoint::start(|_| unknown()).await;
    let player = played(&pool, &[HELP], 1, 1, &[(Role::Agent, endpoint.model())]).await;
    let Outcome::Failed { blame: Blame::Agent, .. } = stories(&player).await[0].outcome else { panic!() };
    assert_eq!(endpoint.requests().len(), 13, "twelve steps are allowed");
}

#[sqlx::test(migrations = "../migrations")]
async fn an_agent_that_never_comes_to_an_end(pool: PgPool) {
    let endpoint = Endpoint::start(|_| endless()).await;
    let player = played(&pool, &[HELP], 1, 1, &[(Role::Agent, endpoint.model())]).await;
    stories(&player).await[0].assert_failed(Blame::Agent, "finish_reason `length`");
    let requests = endpoint.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[2]["max_completion_tokens"], 4096);
    assert_eq!(requests[2].to_string().matches("That was refused").count(), 2);
    let mut db = pool.acquire().await.unwrap();
    let usage = runs::usage(&mut db, player.control.run.id).await.unwrap();
    let agent = usage.iter().find(|usage| usage.role == "agent").unwrap();
    assert_eq!((agent.prompt_tokens, agent.completion_tokens), (33, 21), "what was cut off was paid for");
}

#[sqlx::test(migrations = "../migrations")]
async fn an_agent_that_says_nothing(pool: PgPool) {
    let endpoint = Endpoint::start(|_| says("<think>Hm.</think>")).await;
    let player = played(&pool, &[HELP], 1, 1, &[(Role::Agent, endpoint.model())]).await;
    stories(&player).await[0].assert_failed(Blame::Agent, "the reply is empty");
    assert_eq!(endpoint.requests().len(), 3);
}
