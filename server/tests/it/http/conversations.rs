//! /api/v1/runs/{id}/conversations and /api/v1/conversations

use domain::api::{ConversationDetail, ConversationSummary, Page, RunState, RunSummary};
use domain::outcome::{Blame, Outcome};
use domain::role::Role;
use reqwest::StatusCode;
use sqlx::PgPool;

use super::TestApp;
use crate::support::endpoint::nobody;
use crate::support::play::{HANDOVER, HELP, planned, played, stories};

type List = Page<ConversationSummary>;

#[sqlx::test(migrations = "../migrations")]
async fn a_long_run_comes_in_pages_and_in_order(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP, HANDOVER], 120, 1, &[]).await;
    played(&pool, &[HELP], 3, 1, &[]).await;
    let list = format!("/api/v1/runs/{}/conversations", player.run.id);
    let (mut positions, mut sizes) = (Vec::new(), Vec::new());
    let mut next = Some(list.clone());
    while let Some(path) = next {
        let page: List = app.json(&path).await;
        sizes.push(page.items.len());
        positions.extend(page.items.iter().map(|item| item.position));
        next = page.next.map(|after| format!("{list}?after={after}"));
    }
    assert_eq!(sizes, [50, 50, 20]);
    assert_eq!(positions, (0..120).collect::<Vec<_>>());
}

#[sqlx::test(migrations = "../migrations")]
async fn a_page_that_is_just_full_is_the_last_one(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP], 50, 1, &[]).await;
    let page: List = app.json(&format!("/api/v1/runs/{}/conversations", player.run.id)).await;
    assert_eq!((page.items.len(), page.next), (50, None));
}

#[sqlx::test(migrations = "../migrations")]
async fn what_has_not_begun_is_in_no_page(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = planned(&pool, &[HELP], 50, 1, &[]).await;
    let page: List = app.json(&format!("/api/v1/runs/{}/conversations", player.run.id)).await;
    assert_eq!((page.items.len(), page.next), (0, None));
    let run: RunSummary = app.json(&format!("/api/v1/runs/{}", player.run.id)).await;
    assert_eq!((run.planned, run.finished, run.state), (50, 0, RunState::Running));
}

#[sqlx::test(migrations = "../migrations")]
async fn cursors_that_are_none(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = planned(&pool, &[HELP], 1, 1, &[]).await;
    let list = format!("/api/v1/runs/{}/conversations", player.run.id);
    for cursor in ["x", "", "1.5", "99999999999"] {
        let detail = app.problem(&format!("{list}?after={cursor}"), StatusCode::BAD_REQUEST).await;
        assert_eq!(detail, format!("`after`: `{cursor}` is no cursor"));
    }
    app.problem(&format!("{list}?after=1&after=2"), StatusCode::BAD_REQUEST).await;
    let beyond: List = app.json(&format!("{list}?after=7")).await;
    assert_eq!((beyond.items.len(), beyond.next), (0, None));
}

#[sqlx::test(migrations = "../migrations")]
async fn one_conversation_whole(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP], 1, 1, &[]).await;
    let story = &stories(&player).await[0];
    let detail: ConversationDetail = app.json(&format!("/api/v1/conversations/{}", story.planned.id)).await;
    assert_eq!(detail.run_id, player.run.id.to_string());
    assert_eq!(detail.events, story.events);
    assert_eq!(detail.models, Role::ALL.map(|role| (role.to_string(), "scripted".to_owned())).into());
    assert!(detail.verification.unwrap().passed());
    let verdict = detail.verdict.unwrap();
    assert_eq!(verdict.scores.len(), 8);
    assert_eq!(detail.summary.overall, Some(verdict.overall.into()));
    assert_eq!(detail.summary.outcome, Some(Outcome::Accepted));
    assert_eq!(usize::try_from(detail.summary.events), Ok(story.events.len()));
    assert_eq!((detail.summary.scenario.as_str(), detail.summary.position), (HELP, 0));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_failed_conversation_says_who_and_why(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP], 1, 1, &[(Role::Judge, nobody().await)]).await;
    let id = stories(&player).await[0].planned.id;
    let detail: ConversationDetail = app.json(&format!("/api/v1/conversations/{id}")).await;
    let Some(Outcome::Failed { blame, reason }) = detail.summary.outcome else { panic!() };
    assert_eq!(blame, Blame::Infrastructure);
    assert!(reason.contains("cannot be reached"), "{reason}");
    assert!(detail.verdict.is_none());
    assert!(detail.verification.is_some());
}

#[sqlx::test(migrations = "../migrations")]
async fn unknown_conversations(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    for id in ["0199fe00-0000-7000-8000-000000000000", "1"] {
        let detail = app.problem(&format!("/api/v1/conversations/{id}"), StatusCode::NOT_FOUND).await;
        assert_eq!(detail, format!("there is no conversation {id}"));
    }
}
