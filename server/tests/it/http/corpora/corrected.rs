//! What people corrected is selected and exported as they corrected it.

use std::collections::BTreeMap;

use domain::api::{BuildState, CorpusDetail, ExportSummary};
use domain::corpus::Step;
use domain::correction::CorrectedTurn;
use domain::event::EventKind;
use domain::job::JobKind;
use domain::message::ToolCall;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{clock, corrections};
use uuid::Uuid;

use super::{built, manifest};
use crate::http::TestApp;
use crate::support::jobs;

use crate::support::play::{HANDOVER, HELP, Story, agent_turns, played, stories};

/// Keeps what it can, on one side.
fn all() -> Value {
    json!({"duplicates": {"exact": false}, "split": {"golden": 0}})
}

fn says(content: &str) -> CorrectedTurn {
    CorrectedTurn { content: Some(content.to_owned()), ..CorrectedTurn::default() }
}

fn thinks(reasoning: &str) -> CorrectedTurn {
    CorrectedTurn { reasoning: Some(reasoning.to_owned()), ..CorrectedTurn::default() }
}

/// The first calls that the agent made, with these arguments; and the event of that turn.
fn calls(story: &Story, arguments: &str) -> (u32, CorrectedTurn) {
    let made = story.events.iter().find_map(|event| match &event.kind {
        EventKind::AgentSpoke { tool_calls, .. } if !tool_calls.is_empty() => Some((event.seq, tool_calls)),
        _ => None,
    });
    let (seq, made) = made.unwrap();
    let call = |call: &ToolCall| ToolCall::new(call.id.clone(), call.name().to_owned(), arguments.to_owned());
    (seq, CorrectedTurn { tool_calls: Some(made.iter().map(call).collect()), ..CorrectedTurn::default() })
}

/// What the agent said last.
fn last(story: &Story) -> u32 {
    *agent_turns(&story.events).last().unwrap()
}

/// Keeps a correction, or that there is none any more.
async fn correct(pool: &PgPool, story: &Story, seq: u32, turn: Option<CorrectedTurn>) {
    let (author, note) = ("ann".to_owned(), "n".to_owned());
    let new = corrections::CorrectionVersion {
        conversation: story.planned.id,
        seq,
        turn,
        author,
        note,
        created_at: clock::now(),
    };
    let mut tx = pool.begin().await.unwrap();
    corrections::insert(&mut tx, &new).await.unwrap();
    tx.commit().await.unwrap();
}

/// By conversation: which step dropped it, and why.
async fn dropped(app: &TestApp, corpus: &CorpusDetail) -> BTreeMap<Uuid, (Step, String)> {
    let (_, rows) = manifest(app, corpus).await;
    let dropped =
        rows.into_iter().filter_map(|row| Some((row.conversation.parse().unwrap(), (row.dropped_by?, row.reason?))));
    dropped.collect()
}

/// The canonical rows of a corpus.
async fn exported(app: &TestApp, corpus: &CorpusDetail) -> Vec<Value> {
    let order = json!({"source": {"corpus": {"id": corpus.summary.id}}, "profile": "canonical"});
    let export: ExportSummary = app.post("/api/v1/projects/default/exports", &order).await;
    let id = export.id.parse().unwrap();
    jobs::done(&app.pool, app.files(), JobKind::Export, id).await;
    let text = app.text(&format!("/api/v1/exports/{id}/file")).await;
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[sqlx::test(migrations = "../migrations")]
async fn what_people_wrote_is_scanned(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let stories = stories(&*played(&pool, &[HELP], 6, 1, &[]).await).await;
    let before = built(&app, "before", all()).await;
    assert_eq!((before.summary.train, dropped(&app, &before).await.len()), (6, 0));

    let (mail, key) = ("Write to jane.roe@corp-mail.de.", "The key is AKIAIOSFODNN7EXAMPLE.");
    correct(&pool, &stories[0], last(&stories[0]), Some(says(mail))).await;
    correct(&pool, &stories[1], last(&stories[1]), Some(thinks(mail))).await;
    let (calling, called) = calls(&stories[2], r#"{"query": "jane.roe@corp-mail.de"}"#);
    correct(&pool, &stories[2], calling, Some(called)).await;
    correct(&pool, &stories[3], last(&stories[3]), Some(thinks(key))).await;
    // What does not hold any more is not exported.
    correct(&pool, &stories[4], last(&stories[4]), Some(says(mail))).await;
    correct(&pool, &stories[4], last(&stories[4]), None).await;

    let after = built(&app, "after", all()).await;
    let expected = [
        (0, Step::Pii, "email in what the agent said"),
        (1, Step::Pii, "email in the agent's reasoning"),
        (2, Step::Pii, "email in the arguments of a call"),
        (3, Step::Secrets, "aws_key in the agent's reasoning"),
    ];
    let expected = expected.map(|(i, step, reason)| (stories[i].planned.id, (step, reason.to_owned())));
    assert_eq!(dropped(&app, &after).await, expected.into());
    let report = after.report.unwrap();
    assert_eq!((report.funnel[0].dropped, report.funnel[1].dropped), (3, 1));
    let stays = stories[4].planned.id.to_string();
    assert_eq!(report.corrected, [(stays, 2)].into(), "what was dropped needs no version");
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_corrected_later_is_not_in_the_corpus(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let stories = stories(&*played(&pool, &[HELP], 3, 1, &[]).await).await;
    let (good, mail) = ("Gladly, and have a good trip!", "Write to jane.roe@corp-mail.de.");
    for story in &stories[..2] {
        correct(&pool, story, last(story), Some(says(good))).await;
    }
    let corpus = built(&app, "v1", all()).await;
    let versions = |row: &Value| row["metadata"]["corrections"].clone();
    let rows = exported(&app, &corpus).await;
    assert_eq!(rows.iter().map(versions).collect::<Vec<_>>(), [json!([1]), json!([1]), json!([])]);
    assert!(rows[0].to_string().contains(good));

    // One more of what was corrected, one that is withdrawn, and the first of what was not.
    correct(&pool, &stories[0], last(&stories[0]), Some(says(mail))).await;
    correct(&pool, &stories[1], last(&stories[1]), None).await;
    correct(&pool, &stories[2], last(&stories[2]), Some(thinks(mail))).await;
    assert_eq!(exported(&app, &corpus).await, rows, "the corpus reads as it was selected");
    let preview = json!({"source": {"corpus": {"id": corpus.summary.id}}, "profile": "canonical"});
    let preview: Value = app.post("/api/v1/projects/default/exports/preview", &preview).await;
    assert!(!preview.to_string().contains("jane.roe"), "{preview}");

    // Another corpus is made of what holds now, and so is an export of the run.
    let mut spec = all();
    spec["scan"] = json!({"pii": "keep"});
    let again = built(&app, "v2", spec).await;
    assert_eq!(again.summary.state, BuildState::Ready);
    let rows = exported(&app, &again).await;
    assert_eq!(rows.iter().map(versions).collect::<Vec<_>>(), [json!([2]), json!([]), json!([1])]);
    assert!(rows[0].to_string().contains("jane.roe") && rows[2].to_string().contains("jane.roe"));
}

#[sqlx::test(migrations = "../migrations")]
async fn what_people_wrote_is_compared(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let stories = stories(&*played(&pool, &[HELP], 6, 1, &[]).await).await;
    let story = |id: Uuid| stories.iter().find(|story| story.planned.id == id).unwrap();
    let spec = json!({"split": {"golden": 0}});
    let before = dropped(&app, &built(&app, "before", spec.clone()).await).await;
    // Two that say the same as they were played.
    let (double, (_, reason)) = before.first_key_value().unwrap();
    let first: Uuid = reason.strip_prefix("says the same as ").unwrap().parse().unwrap();

    correct(&pool, story(*double), last(story(*double)), Some(says("Gladly, and have a good trip!"))).await;
    let one = dropped(&app, &built(&app, "one", spec.clone()).await).await;
    assert_eq!((one.len(), one.get(double)), (before.len() - 1, None), "it says something else");
    correct(&pool, story(first), last(story(first)), Some(says("Gladly,  and have a good trip!"))).await;
    let both = dropped(&app, &built(&app, "both", spec).await).await;
    assert_eq!(both.get(double), Some(&(Step::ExactDuplicates, format!("says the same as {first}"))));
}

#[sqlx::test(migrations = "../migrations")]
async fn what_people_wrote_does_not_leak(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let stories = stories(&*played(&pool, &[HELP, HANDOVER], 8, 1, &[]).await).await;
    let of = |scenario: &str| stories.iter().find(|story| story.planned.scenario == scenario).unwrap();
    let spec = json!({"duplicates": {"exact": false}, "split": {"golden": 0.5, "near": 0.5}});
    let before = built(&app, "before", spec.clone()).await.report.unwrap();
    assert_eq!((before.split.golden.families, before.split.together.len()), (1, 0));

    let long: Vec<String> = (0..1000).map(|i| format!("word{i}")).collect();
    for scenario in [HELP, HANDOVER] {
        let (seq, _) = calls(of(scenario), "{}");
        correct(&pool, of(scenario), seq, Some(thinks(&long.join(" ")))).await;
    }
    let after = built(&app, "after", spec).await.report.unwrap();
    assert_eq!(after.split.together[0].families, [HANDOVER, HELP], "they stay on one side");
    assert_eq!((after.split.golden.conversations, after.leakage.near_duplicates), (0, 0));
}
