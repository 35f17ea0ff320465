//! Preference pairs of a run in which the agent is now good and now not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use datasets::export::Room;
use datasets::export::build::build;
use datasets::export::contents::{ExportFiles, Order};
use datasets::export::order;
use domain::api::{BranchSummary, CorpusDetail, CorpusSummary};
use domain::event::EventKind;
use domain::export::{CorpusRows, ExportSpec, PairRule, Profile, RunRows, SourceSpec, Toggles};
use domain::job::JobKind;
use domain::role::Role;
use generation::ConversationRun;
use runtime::ModelClients;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::http::TestApp;
use crate::support::agent;
use crate::support::endpoint::{Endpoint, says};
use crate::support::jobs;
use crate::support::play::{HANDOVER, HELP, exported, hasty, play_all, played, rows, stories};

async fn pairs(pool: &PgPool, profile: Profile, rule: PairRule) -> (ExportFiles, Vec<Value>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let endpoint = Endpoint::start(move |request| {
        let answers = request["messages"].as_array().unwrap().last().unwrap()["role"] == "tool";
        // Every third answer tells nothing.
        if answers && asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(3) {
            says("I can not say.")
        } else {
            agent::help(request)
        }
    })
    .await;
    let run = played(pool, &[HELP], 24, 1, &[(Role::Agent, endpoint.model())]).await;
    let source =
        RunRows { id: run.control.run.id.to_string(), judging: None, corrected: false, all: false, branches: false };
    written(pool, SourceSpec::Run(source), profile, rule).await
}

/// The pairs of a source.
async fn written(pool: &PgPool, source: SourceSpec, profile: Profile, pairs: PairRule) -> (ExportFiles, Vec<Value>) {
    let spec = ExportSpec { source, profile, toggles: Toggles::default(), pairs };
    let checked = order::check(pool, &spec, None).await.unwrap().ok().unwrap();
    let order = Order::of(pool, &spec, &checked).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let built = build(pool, &order, folder.path(), &Room::default(), &mut |_| {}).await.unwrap();
    let text = std::fs::read_to_string(folder.path().join(&built.report.parts[0].path)).unwrap();
    (built, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[sqlx::test(migrations = "../migrations")]
async fn what_was_accepted_is_preferred_to_what_was_not(pool: PgPool) {
    let (built, pairs) = pairs(&pool, Profile::TrlDpo, PairRule::default()).await;
    let report = built.report.parts[0].pairs.as_ref().unwrap();
    assert!(!pairs.is_empty());
    assert_eq!(report.used, i64::try_from(pairs.len()).unwrap());
    assert_eq!(report.candidates, report.alone + report.too_close + report.left_over + 2 * report.used);
    for pair in &pairs {
        assert_eq!(pair["prompt"].as_array().unwrap().last().unwrap()["role"], "tool", "they part after both answers");
        assert!(pair["chosen"][0]["content"].as_str().unwrap().contains("1.75"));
        assert_eq!(pair["rejected"][0]["content"], "I can not say.");
        let metadata: Value = serde_json::from_str(pair["metadata"].as_str().unwrap()).unwrap();
        assert!(metadata["chosen"]["overall"].as_i64() > metadata["rejected"]["overall"].as_i64());
        assert_eq!(metadata["chosen"]["world"], metadata["rejected"]["world"]);
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn openai_takes_one_message_a_side(pool: PgPool) {
    let (_, pairs) = pairs(&pool, Profile::OpenaiDpo, PairRule::default()).await;
    assert!(!pairs.is_empty());
    for pair in &pairs {
        assert_eq!(pair["preferred_output"].as_array().unwrap().len(), 1);
        assert_eq!(pair["non_preferred_output"].as_array().unwrap().len(), 1);
        assert!(!pair.to_string().contains("reasoning_content"));
    }
}

/// The best score is 10, and nothing is ten better than what was judged at all.
#[sqlx::test(migrations = "../migrations")]
async fn what_is_closer_than_the_margin_is_no_pair(pool: PgPool) {
    let (built, pairs) = pairs(&pool, Profile::TrlDpo, PairRule { margin: 10.0, ..PairRule::default() }).await;
    let report = built.report.parts[0].pairs.as_ref().unwrap();
    assert!(report.too_close > 0, "{report:?}");
    assert_eq!((pairs.len(), report.used, report.candidates), (0, 0, report.alone + report.too_close));
}

/// What the user says first, and what an agent may have heard, can be the same in two scenarios; what is right is not.
#[sqlx::test(migrations = "../migrations")]
async fn conversations_of_two_scenarios_are_no_pair(pool: PgPool) {
    let user = Endpoint::start(|request| {
        let begins = request["messages"].as_array().unwrap().len() == 2;
        says(if begins { "Hello, can you help me?" } else { "[END]" })
    })
    .await;
    let asked = Arc::new(AtomicUsize::new(0));
    let agent =
        Endpoint::start(move |_| says(["Certainly.", "Hello!"][asked.fetch_add(1, Ordering::Relaxed) % 2])).await;
    let judge = Endpoint::start(|request| {
        let mut verdict = agent::verdict();
        verdict["overall"] = json!(if agent::is_handover(request) { 8 } else { 3 });
        says(&verdict.to_string())
    })
    .await;
    let models = [(Role::SimulatedUser, user.model()), (Role::Agent, agent.model()), (Role::Judge, judge.model())];
    let run = played(&pool, &[HELP, HANDOVER], 2, 1, &models).await;
    let (_, text) = exported(&run, true).await;
    let both: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [a, b] = &both[..] else { panic!("two rows: {text}") };
    for alike in ["/metadata/world/initial", "/tools", "/messages/0", "/messages/1"] {
        assert_eq!(a.pointer(alike), b.pointer(alike), "{alike}");
    }
    assert_ne!(a["messages"][2], b["messages"][2]);
    let source =
        RunRows { id: run.control.run.id.to_string(), judging: None, corrected: false, all: true, branches: false };
    let (built, pairs) = written(&pool, SourceSpec::Run(source), Profile::TrlDpo, PairRule::default()).await;
    let report = built.report.parts[0].pairs.as_ref().unwrap();
    assert_eq!((report.candidates, report.possible, pairs.len()), (2, 0, 0), "{report:?}");
}

/// They are of two runs, and a corpus may hold both.
#[sqlx::test(migrations = "../migrations")]
async fn a_branch_and_its_origin_part_where_it_branches(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let run = played(&pool, &[HELP], 1, 1, &[]).await;
    let [story] = stories(&run).await.try_into().unwrap_or_else(|_| panic!("one story"));
    let answer = story.events.iter().find_map(|event| match &event.kind {
        EventKind::AgentSpoke { tool_calls, content, .. } if tool_calls.is_empty() => Some((event.seq, content)),
        _ => None,
    });
    let (seq, said) = answer.unwrap();
    let worse = "I can not say.";
    let branches = format!("/api/v1/conversations/{}/branches", story.planned.id);
    let branch: BranchSummary = app.post(&branches, &json!({"seq": seq, "content": worse})).await;
    let playing = ConversationRun::load(&pool, branch.run.parse().unwrap(), &ModelClients::new(hasty())).await.unwrap();
    play_all(playing, 1).await;

    let filter = json!({"runs": [run.control.run.id, branch.run], "outcomes": ["accepted", "failed"]});
    let order = json!({"name": "both", "spec": {"filter": filter, "split": {"golden": 0}}});
    let asked: CorpusSummary = app.post("/api/v1/projects/default/corpora", &order).await;
    jobs::done(&pool, app.files(), JobKind::Corpus, asked.id.parse().unwrap()).await;
    let corpus: CorpusDetail = app.json(&format!("/api/v1/corpora/{}", asked.id)).await;
    assert_eq!(corpus.summary.train, 2, "they say different things: {:?}", corpus.report);

    let source = |all| SourceSpec::Corpus(CorpusRows { id: asked.id.clone(), split: None, all, branches: false });
    // What is imitated must not hold a failure unless somebody asks for it.
    let (built, imitated) = written(&pool, source(false), Profile::Trl, PairRule::default()).await;
    assert_eq!((imitated.len(), built.report.parts[0].written.not_accepted), (1, 1));
    let (_, everything) = written(&pool, source(true), Profile::Trl, PairRule::default()).await;
    assert_eq!(everything.len(), 2);

    let (built, pairs) = written(&pool, source(false), Profile::TrlDpo, PairRule::default()).await;
    let report = built.report.parts[0].pairs.as_ref().unwrap();
    assert_eq!((report.candidates, report.possible, report.used), (2, 2, 1));
    let [pair] = &pairs[..] else { panic!("one pair: {pairs:?}") };
    assert_eq!((&pair["chosen"][0]["content"], &pair["rejected"][0]["content"]), (&json!(said), &json!(worse)));
    let metadata: Value = serde_json::from_str(pair["metadata"].as_str().unwrap()).unwrap();
    assert_eq!(metadata["chosen"]["id"], json!(story.planned.id));
    assert_eq!(metadata["rejected"]["id"], json!(branch.conversation));
    // All that was said before, and nothing else, is the prompt.
    let origin = rows(&run).await.swap_remove(0);
    let messages = origin["messages"].as_array().unwrap();
    let turn = messages.iter().position(|message| message["content"] == json!(said)).unwrap();
    let prompt = pair["prompt"].as_array().unwrap();
    assert_eq!(prompt.len(), turn);
    for (shared, message) in prompt.iter().zip(messages) {
        assert_eq!((&shared["role"], &shared["content"]), (&message["role"], &message["content"]));
    }
}
