//! /api/v1/conversations/{id}/branches

use domain::api::{BranchOrigin, BranchSummary, ConversationDetail};
use domain::event::{Event, EventKind};
use generation::ConversationRun;
use reqwest::{Method, StatusCode};
use runtime::ModelClients;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::events;
use uuid::Uuid;

use super::TestApp;
use crate::support::ledger;
use crate::support::play::{TRANSFER, hasty, play_all, played, stories};

/// Events of the turns of the agent under test, and of the user.
fn turns(events: &[Event]) -> (Vec<u32>, Vec<u32>) {
    let of = |speaks: fn(&EventKind) -> bool| {
        events.iter().filter(|event| event.ancestry.is_empty() && speaks(&event.kind)).map(|event| event.seq).collect()
    };
    (
        of(|kind| matches!(kind, EventKind::AgentSpoke { tool_calls, .. } if tool_calls.is_empty())),
        of(|kind| matches!(kind, EventKind::UserSpoke { .. })),
    )
}

async fn kept(pool: &PgPool, id: &str) -> Vec<Event> {
    events::of(&mut pool.acquire().await.unwrap(), id.parse().unwrap()).await.unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn a_branch_shares_what_was_said_before_and_goes_on_by_itself(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let run = played(&pool, &[TRANSFER], 1, 1, &[]).await;
    let [story] = stories(&run).await.try_into().unwrap_or_else(|_| panic!("one story"));
    let path = format!("/api/v1/conversations/{}/branches", story.planned.id);
    let (agents, users) = turns(&story.events);
    let words = "One moment please, I will look into it.";
    for (wanted, by) in [
        (json!({"seq": agents[0], "content": words}), Some("root")),
        (json!({"seq": users[1], "model": "scripted"}), None),
    ] {
        let (status, answer) = app.send(Method::POST, &path, &wanted).await;
        assert_eq!(status, StatusCode::CREATED, "{answer}");
        let branch: BranchSummary = serde_json::from_value(answer).unwrap();
        assert_eq!((branch.edited_by.as_deref(), branch.outcome.as_deref()), (by, None));
        let detail: ConversationDetail = app.json(&format!("/api/v1/conversations/{}", branch.conversation)).await;
        let (conversation, edited_by) = (story.planned.id.to_string(), branch.edited_by.clone());
        assert_eq!(detail.branch_of, Some(BranchOrigin { conversation, seq: branch.seq, edited_by }));
        let seq = usize::try_from(branch.seq).unwrap();
        let own = kept(&pool, &branch.conversation).await;
        assert_eq!(own[..seq], story.events[..seq], "what came before is shared");
        assert_eq!(own.len(), seq + usize::from(by.is_some()));
        let run: Uuid = branch.run.parse().unwrap();
        let active = ConversationRun::load(&pool, run, &ModelClients::new(hasty())).await.unwrap();
        let played = play_all(active, 1).await;
        let own = kept(&pool, &branch.conversation).await;
        assert_eq!(own[..seq], story.events[..seq]);
        assert!(matches!(own.last().map(|event| &event.kind), Some(EventKind::Finished { .. })), "it came to its end");
        if by.is_some() {
            assert!(matches!(&own[seq].kind, EventKind::AgentSpoke { content, .. } if content == words));
        }
        ledger::check(&pool, run).await;
        drop(played);
    }
    let listed: Vec<BranchSummary> = app.json(&path).await;
    assert_eq!(listed.iter().map(|branch| branch.seq).collect::<Vec<_>>(), [agents[0], users[1]]);
    assert!(listed.iter().all(|branch| branch.outcome.is_some()));
    let origin: ConversationDetail = app.json(&format!("/api/v1/conversations/{}", story.planned.id)).await;
    assert_eq!(origin.branch_of, None);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_cannot_be_a_branch(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let run = played(&pool, &[TRANSFER], 1, 1, &[]).await;
    let [story] = stories(&run).await.try_into().unwrap_or_else(|_| panic!("one story"));
    let path = format!("/api/v1/conversations/{}/branches", story.planned.id);
    let (agents, _) = turns(&story.events);
    let started = 0;
    for (wanted, expected) in [
        (json!({"seq": agents[0]}), "give another `model`"),
        (json!({"seq": agents[0], "model": "gpt@http://127.0.0.1:1/v1"}), "name a model of the registry"),
        (json!({"seq": agents[0], "model": "nobody"}), "nobody"),
        (json!({"seq": started, "model": "scripted"}), "is not a turn of the user"),
        (json!({"seq": 100_000, "model": "scripted"}), "is not a turn of the user"),
        (json!({"seq": agents[0], "content": "Your balance is 73911.55 EUR."}), "comes from nowhere"),
        (json!({"seq": agents[0], "content": "", "tool_calls": [{"name": "no_tool", "arguments": {}}]}), "no_tool"),
        (json!({"seq": agents[0], "model": "scripted", "reasoning": "a"}), "can be given only with"),
    ] {
        let (status, answer) = app.send(Method::POST, &path, &wanted).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{wanted}: {answer}");
        assert!(answer.to_string().contains(expected), "{wanted}: {answer}");
    }
    // As in every body: it is refused before it is read.
    let (status, answer) = app.send(Method::POST, &path, &json!({"seq": agents[0], "content": "a\u{0}b"})).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(answer["detail"].as_str().unwrap().contains("U+0000"), "{answer}");
    assert_eq!(app.json::<Value>(&path).await, json!([]));
}
