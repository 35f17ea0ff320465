//! Endpoints that are down, busy, broken or slow.

use std::ops::RangeInclusive;
use std::time::Duration;

use axum::response::Response;
use domain::event::EventKind;
use domain::outcome::{Blame, Outcome};
use domain::role::Role;
use generation::models::Models;
use llm::EndpointOptions;
use runtime::ModelClients;
use sqlx::PgPool;

use crate::support::agent::{help, is_help};
use crate::support::endpoint::{Endpoint, busy, cut, nobody, not_json, silence, status};
use crate::support::play::{HANDOVER, HELP, exported, hasty, planned, play_all, played, stories};

/// One conversation goes well, and in the other the agent's endpoint answers so.
async fn check(pool: &PgPool, answer: fn() -> Response, because: &str, attempts: RangeInclusive<usize>) {
    let endpoint = Endpoint::start(move |request| if is_help(request) { help(request) } else { answer() }).await;
    let player = played(pool, &[HANDOVER, HELP], 2, 1, &[(Role::Agent, endpoint.model())]).await;
    let stories = stories(&player).await;
    stories[0].assert_failed(Blame::Infrastructure, because);
    assert_eq!(stories[1].outcome, Outcome::Accepted, "{because}");
    let failing = endpoint.requests().iter().filter(|request| !is_help(request)).count();
    assert!(attempts.contains(&failing), "{because}: {failing} requests");

    let kinds: Vec<&EventKind> = stories[0].events.iter().map(|event| &event.kind).collect();
    let [EventKind::Started { .. }, EventKind::UserSpoke { .. }, EventKind::Finished { .. }] = kinds[..] else {
        panic!("{because}: {kinds:?}")
    };
    let (written, _) = exported(&player, false).await;
    assert_eq!((written.report.rows, written.report.not_accepted), (1, 1), "{because}");
}

#[sqlx::test(migrations = "../migrations")]
async fn an_endpoint_that_fails_loses_its_own_conversation_only(pool: PgPool) {
    let all = hasty().max_attempts as usize;
    check(&pool, || status(500), "answered 500 (no luck today)", all..=all).await;
    check(&pool, || status(401), "check that the spec names the key", 1..=1).await;
    // A busy endpoint is a healthy one: it is waited for as long as patience lasts.
    check(&pool, busy, "asks for fewer requests", all..=usize::MAX).await;
    check(&pool, not_json, "did not answer as an OpenAI-compatible API", all..=all).await;
    check(&pool, cut, "broke off in the middle", all..=all).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn an_endpoint_that_is_down(pool: PgPool) {
    for role in [Role::SimulatedUser, Role::Agent, Role::ToolSimulator, Role::Judge] {
        let player = played(&pool, &[HELP], 2, 1, &[(role, nobody())]).await;
        for story in stories(&player).await {
            story.assert_failed(Blame::Infrastructure, "cannot be reached (Connection refused");
            let judged = story.events.iter().any(|e| matches!(e.kind, EventKind::Verified { .. }));
            assert_eq!(judged, role == Role::Judge, "what was played before is kept");
        }
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn an_endpoint_that_does_not_answer(pool: PgPool) {
    let endpoint = Endpoint::start(|_| silence()).await;
    let mut player = planned(&pool, &[HELP], 1, 1, &[(Role::Agent, endpoint.model())]).await;
    let options = EndpointOptions { first_byte_timeout: Duration::from_millis(50), ..hasty() };
    player.kind.models = Models::of(&player.kind.config, &ModelClients::new(options)).unwrap();
    let player = play_all(player, 1).await;
    stories(&player).await[0].assert_failed(Blame::Infrastructure, "the first byte of the reply took longer than 50ms");
}
