//! A row is made of the events alone; the conversation, resumed from the same events, is what it must agree with.

use std::sync::Arc;

use datasets::export::{Choice, Made, Source, rows};
use domain::fault::{FaultKind, FaultRule};
use domain::message::Message;
use domain::playbook::AgentStyle;
use engine::Conversation;
use engine::conversation::{Caller, Frame};
use generation::ConversationRun;
use generation::plan::{self, RunConfig};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{conversations, events, material};

use crate::support::library;
use crate::support::play::{exported_rows, planned_as, play_all};

/// Every scenario of a playbook, once for each complexity and then some.
async fn all_scenarios(pool: &PgPool, configure: impl FnOnce(&mut RunConfig)) -> Arc<ConversationRun> {
    let library = library();
    let scenarios: Vec<&str> = library.scenarios.keys().map(String::as_str).collect();
    let run = planned_as(pool, &scenarios, 2 * scenarios.len(), 11, &[], configure).await;
    play_all(run, 4).await
}

/// Compares all rows of a run with what its conversations say when they are resumed; how many there were.
async fn compare(run: &ConversationRun) -> usize {
    let choice = Choice { all: true, branches: true, ..Choice::default() };
    let (written, text) = exported_rows(run, choice).await;
    let mut lines = text.lines();
    let mut db = run.control.pool.acquire().await.unwrap();
    let mut compared = 0;
    for planned in conversations::finished(&mut db, run.control.run.id).await.unwrap() {
        let case = plan::case(&run.kind.library, &run.kind.config, run.control.run.seed, &planned).unwrap();
        let past = events::of(&mut db, planned.id).await.unwrap();
        let conversation = Conversation::resume(Arc::new(case), &past).unwrap();
        let state = conversation.state();
        let usable = |frame: &&Frame| {
            let malformed = state.calls.iter().any(|call| call.caller == frame.caller && call.answer.malformed());
            let speaks = transcript(&conversation, frame);
            !malformed && matches!(speaks.last(), Some(Message::Assistant { .. }))
        };
        let branches = state.branches.iter().filter(|frame| frame.pending.is_empty());
        for frame in [state.agent()].into_iter().chain(branches).filter(usable) {
            let row: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
            assert_eq!(row["messages"], json!(transcript(&conversation, frame)));
            assert_eq!(row["tools"], json!(conversation.functions(frame)));
            assert_eq!(row["metadata"]["id"].as_str().unwrap().split('/').next().unwrap(), planned.id.to_string());
            about(&conversation, &row["metadata"]);
            compared += 1;
        }
    }
    assert_eq!((lines.next(), written.rows), (None, i64::try_from(compared).unwrap()));
    compared
}

fn transcript(conversation: &Conversation, frame: &Frame) -> Vec<Message> {
    let mut messages = conversation.transcript(frame);
    while matches!(messages.last(), Some(Message::User { .. })) {
        messages.pop();
    }
    messages
}

fn about(conversation: &Conversation, metadata: &Value) {
    let (case, state) = (conversation.case(), conversation.state());
    assert_eq!(metadata["persona"], json!(case.persona));
    assert_eq!(metadata["complexity"], json!(case.complexity));
    assert_eq!(metadata["agent_style"], json!(case.agent_style));
    let world = json!({"initial": state.initial_hash, "final": state.world_hash(), "version": state.world.version()});
    assert_eq!(metadata["world"], world);
    let calls = state.calls.iter().filter(|call| call.caller != Caller::User).count();
    assert_eq!(metadata["tool_calls"], json!(calls));
    assert_eq!(metadata["user_turns"], json!(state.user_turns));
    let verdict = state.verdict().unwrap();
    assert_eq!(
        (&metadata["overall"], &metadata["weighted_mean"]),
        (&json!(verdict.overall), &json!(verdict.weighted_mean))
    );
    assert_eq!(metadata["verifier"]["items"], json!(state.verification.as_ref().unwrap().items));
    for score in &verdict.scores {
        assert_eq!(metadata["scores"][&score.criterion], json!(score.score));
        assert_eq!(metadata["rationales"][&score.criterion], json!(score.rationale));
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_row_says_what_its_conversation_says(pool: PgPool) {
    assert!(compare(&*all_scenarios(&pool, |_| {}).await).await >= 40);
}

#[sqlx::test(migrations = "../migrations")]
async fn also_of_sub_agents(pool: PgPool) {
    let run = all_scenarios(&pool, |config| config.variant = Some("orchestrator".to_owned())).await;
    assert!(compare(&run).await > 48, "some are of sub-agents");
}

#[sqlx::test(migrations = "../migrations")]
async fn also_in_text_and_with_faults(pool: PgPool) {
    let fault = |kind, calls, probability| FaultRule { kind, tools: Vec::new(), calls, probability };
    let run = all_scenarios(&pool, |config| {
        config.agent_style = Some(AgentStyle::React);
        config.faults = vec![
            fault(FaultKind::ServerError, vec![1], None),
            fault(FaultKind::StaleRead, vec![3], None),
            fault(FaultKind::TruncatedBody, Vec::new(), Some(0.2)),
        ];
    });
    assert!(compare(&*run.await).await >= 30);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_row_is_written_as_it_would_be_serialised(pool: PgPool) {
    let run = all_scenarios(&pool, |_| {}).await;
    let mut db = pool.acquire().await.unwrap();
    let source = Source::of_run(&mut db, &run.control.run, &run.kind.config, &run.kind.library, Choice::default())
        .await
        .unwrap();
    let wanted = source.after(&mut db, -1, 100).await.unwrap();
    for material in material::of(&mut db, &wanted, false).await.unwrap() {
        let Made::Rows(made) = rows(&source.contexts[&run.control.run.id], &material, false, true).unwrap() else {
            continue;
        };
        for row in made.into_iter().flatten() {
            let mut written = Vec::new();
            row.write(&mut written).unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), serde_json::to_string(&row).unwrap());
        }
    }
}
