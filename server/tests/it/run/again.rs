//! What somebody else than the agent spoiled is played again, and counted apart.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use domain::outcome::{Blame, Outcome};
use domain::role::Role;
use sqlx::PgPool;
use store::runs;

use crate::support::agent::verdict;
use crate::support::endpoint::{Endpoint, says};
use crate::support::play::{HELP, planned_as, play_all, rows, stories};

#[sqlx::test(migrations = "../migrations")]
async fn a_spoiled_conversation_is_played_again_and_counted_once(pool: PgPool) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    // The user's endpoint refuses the first conversation and then comes to its senses.
    let user = Endpoint::start(move |_| match counter.fetch_add(1, Ordering::Relaxed) {
        0 => (StatusCode::BAD_REQUEST, "no").into_response(),
        1 => says("What does it cost to pay by card abroad, and until when can I call you?"),
        _ => says("[END]"),
    })
    .await;
    let player =
        planned_as(&pool, &[HELP], 1, 1, &[(Role::SimulatedUser, user.model())], |config| config.retries = 2).await;
    let player = play_all(player, 1).await;
    let stories = stories(&player).await;
    assert_eq!((stories.len(), stories[0].planned.attempt), (1, 2));
    assert_eq!(stories[0].outcome, Outcome::Accepted, "{:?}", stories[0].outcome);
    let summary = runs::summary(&mut pool.acquire().await.unwrap(), &player.control.run).await.unwrap();
    assert_eq!((summary.finished, summary.accepted), (1, 1));
    assert_eq!(summary.failures, [].into());
    assert_eq!(summary.played_again, [("infrastructure".to_owned(), 1)].into());
    let rows = rows(&player).await;
    assert_eq!((rows.len(), &rows[0]["metadata"]["attempt"]), (1, &serde_json::json!(2)));
}

#[sqlx::test(migrations = "../migrations")]
async fn the_limit_is_kept_and_the_last_attempt_counts(pool: PgPool) {
    let user = Endpoint::start(|_| says("Agent: hello")).await;
    let player =
        planned_as(&pool, &[HELP], 1, 1, &[(Role::SimulatedUser, user.model())], |config| config.retries = 2).await;
    let player = play_all(player, 1).await;
    let stories = stories(&player).await;
    stories[0].assert_failed(Blame::SimulatedUser, "without a speaker's name");
    assert_eq!(stories[0].planned.attempt, 3);
    let summary = runs::summary(&mut pool.acquire().await.unwrap(), &player.control.run).await.unwrap();
    assert_eq!(summary.failures, [("simulated_user".to_owned(), 1)].into());
    assert_eq!(summary.played_again, [("simulated_user".to_owned(), 2)].into());
}

/// A conversation whose judge at first answers in another way than with a verdict: the dialogue is not played again.
async fn judged_at_last(pool: &PgPool, failures: usize, failure: fn() -> Response) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let judge = Endpoint::start(move |_| {
        if counter.fetch_add(1, Ordering::Relaxed) < failures { failure() } else { says(&verdict().to_string()) }
    })
    .await;
    let agent = Endpoint::start(crate::support::agent::help).await;
    let models = [(Role::Judge, judge.model()), (Role::Agent, agent.model())];
    let player = planned_as(pool, &[HELP], 1, 1, &models, |config| config.retries = 1).await;
    let player = play_all(player, 1).await;
    let stories = stories(&player).await;
    assert_eq!((&stories[0].outcome, stories[0].planned.attempt), (&Outcome::Accepted, 2));
    assert_eq!(asked.load(Ordering::Relaxed), failures + 1);
    assert_eq!(agent.requests().len(), 2, "the agent was not asked again");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_judge_that_failed_is_asked_again_without_playing(pool: PgPool) {
    judged_at_last(&pool, 2, || says("no verdict")).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn so_is_one_whose_endpoint_failed(pool: PgPool) {
    judged_at_last(&pool, 1, || (StatusCode::UNAUTHORIZED, "no").into_response()).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn what_the_agent_failed_is_data_and_not_played_again(pool: PgPool) {
    let agent = Endpoint::start(|_| says("I do not know.")).await;
    let player = planned_as(&pool, &[HELP], 1, 1, &[(Role::Agent, agent.model())], |config| config.retries = 2).await;
    let player = play_all(player, 1).await;
    let stories = stories(&player).await;
    stories[0].assert_failed(Blame::Agent, "");
    assert_eq!(stories[0].planned.attempt, 1);
}
