//! The tokens that an agent's endpoint returns: kept with its turns, and exported where all of them are there.

use std::num::NonZeroU32;
use std::sync::Arc;

use axum::Json;
use axum::response::{IntoResponse, Response};
use datasets::export::Room;
use datasets::export::build::build;
use datasets::export::contents::Order;
use datasets::export::order;
use domain::correction::CorrectedTurn;
use domain::event::{Event, EventKind};
use domain::export::{ExportSpec, PairRule, Profile, RunRows, SourceSpec, Toggles};
use domain::role::Role;
use domain::sampling::Sampling;
use generation::ConversationRun;
use llm::PoolSpec;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{clock, corrections};

use crate::support::agent;
use crate::support::endpoint::Endpoint;
use crate::support::play::{HELP, agent_turns, planned_as, play_all, stories};
use crate::support::tokens::{self, POLICY, Template};

const SAMPLES: u32 = 2;

/// A group whose agent is asked for its tokens, and answers so.
async fn sampled(
    pool: &PgPool,
    answer: impl Fn(&Value) -> Response + Clone + Send + Sync + 'static,
) -> Arc<ConversationRun> {
    let endpoint = Endpoint::start(answer).await;
    let url = endpoint.model().split_once('@').unwrap().1.to_owned();
    let configure = |config: &mut generation::plan::RunConfig| {
        config.samples = NonZeroU32::new(SAMPLES).unwrap();
        config.pools = vec![PoolSpec { token_ids: true, ..PoolSpec::new("test-model", vec![url]) }];
    };
    let agent = [(Role::Agent, "test-model".to_owned())];
    play_all(planned_as(pool, &[HELP], SAMPLES as usize, 1, &agent, configure).await, 2).await
}

async fn sampled_by(pool: &PgPool, template: Template) -> Arc<ConversationRun> {
    sampled(pool, move |request| tokens::whole(request, &agent::helps(request), template)).await
}

/// The lines of an export of groups.
async fn lines(run: &ConversationRun, profile: Profile) -> Vec<Value> {
    let pool = &run.control.pool;
    let rows =
        RunRows { id: run.control.run.id.to_string(), judging: None, corrected: false, all: false, branches: false };
    let source = SourceSpec::Run(rows);
    let spec = ExportSpec { source, profile, toggles: Toggles::default(), pairs: PairRule::default() };
    let checked = order::check(pool, &spec, None).await.unwrap().ok().unwrap();
    let order = Order::of(pool, &spec, &checked).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let built = build(pool, &order, folder.path(), &Room::default(), &mut |_| {}).await.unwrap();
    let text = std::fs::read_to_string(folder.path().join(&built.report.parts[0].path)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn sampling(events: &[Event]) -> Vec<&Sampling> {
    let turns = events.iter().filter_map(|event| match &event.kind {
        EventKind::AgentSpoke { sampling, .. } => sampling.as_ref(),
        _ => None,
    });
    turns.collect()
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// Ids, mask and log-probabilities of a sequence must fit: each sampled token says by its id what its log-probability is.
fn check_sequence(sequence: &Value) -> (Vec<f64>, usize) {
    let [ids, mask, logprobs] = ["token_ids", "mask", "logprobs"].map(|field| numbers(&sequence[field]));
    assert!(ids.len() == mask.len() && ids.len() == logprobs.len(), "{sequence}");
    let mut sampled = 0;
    for ((id, mask), logprob) in ids.iter().zip(&mask).zip(&logprobs) {
        let is_sampled = *mask > 0.5;
        let expected = if is_sampled { -id / 64.0 } else { 0.0 };
        assert!((logprob - expected).abs() < 1e-6, "{id}: {logprob}");
        assert!(!is_sampled || id % 10.0 > 5.5, "{id} was not sampled: {sequence}");
        sampled += usize::from(is_sampled);
    }
    assert_eq!(sequence["policy_versions"], json!([POLICY]));
    (ids, sampled)
}

#[sqlx::test(migrations = "../migrations")]
async fn tokens_are_kept_with_the_turns_and_exported(pool: PgPool) {
    let run = sampled_by(&pool, Template::Extends).await;
    let stories = stories(&run).await;
    let turns = agent_turns(&stories[0].events).len();
    assert!(turns > 1, "{turns}");
    for story in &stories {
        let mut known = 0;
        for sampling in sampling(&story.events) {
            let tokens = sampling.tokens().unwrap();
            assert_eq!((tokens.shared, tokens.policy.as_str()), (known, POLICY), "no prompt is stored twice");
            known += tokens.prompt.as_ref().unwrap().len() + tokens.completion.len();
        }
    }

    let groups = lines(&run, Profile::Groups).await;
    let [group] = &groups[..] else { panic!("{groups:?}") };
    assert_eq!(group["off_policy"], json!(false));
    let completions = group["completions"].as_array().unwrap();
    assert_eq!(completions.len(), SAMPLES as usize);
    let mut whole = Vec::new();
    for completion in completions {
        let [sequence] = &completion["sequences"].as_array().unwrap()[..] else { panic!("{completion}") };
        let (ids, sampled) = check_sequence(sequence);
        assert_eq!(sampled, 2 * turns);
        whole.push(ids);
    }

    let episodes = lines(&run, Profile::Verifiers).await;
    assert_eq!(episodes.len(), SAMPLES as usize);
    for (episode, ids) in episodes.iter().zip(&whole) {
        let trace = &episode["traces"][0];
        assert_eq!(
            (&trace["info"]["off_policy"], &trace["info"]["policy_versions"]),
            (&json!(false), &json!([POLICY]))
        );
        let nodes = trace["nodes"].as_array().unwrap();
        let of = |field: &str| nodes.iter().filter_map(|node| node.get(field)).flat_map(numbers_or_flags).collect();
        let (found, mask, logprobs): (Vec<f64>, Vec<f64>, Vec<f64>) = (of("token_ids"), of("mask"), of("logprobs"));
        assert_eq!(&found, ids, "the nodes of a path are what the model read and said");
        assert_eq!((mask.len(), logprobs.len()), (ids.len(), 2 * turns), "only what was sampled has a log-probability");
        assert!(nodes.iter().all(|node| node["sampled"] == json!(node["message"]["role"] == "assistant")));
    }

    let groups = lines(&run, Profile::Art).await;
    for trajectory in groups[0]["trajectories"].as_array().unwrap() {
        let about = &trajectory["metadata"];
        assert_eq!((&about["off_policy"], &about["policy_version"]), (&json!(false), &json!(POLICY)));
        let said = trajectory["messages_and_choices"].as_array().unwrap();
        for (place, choice) in said.iter().enumerate().filter(|(_, said)| said.get("finish_reason").is_some()) {
            let entry = &choice["logprobs"]["content"][1];
            assert_eq!(entry["token"], json!(format!("token_id:{}", 10 * place + 7)));
            assert!(entry["logprob"].as_f64().unwrap() < 0.0);
        }
    }
}

fn numbers_or_flags(list: &Value) -> Vec<f64> {
    let number = |one: &Value| one.as_f64().unwrap_or_else(|| f64::from(u8::from(one.as_bool().unwrap())));
    list.as_array().unwrap().iter().map(number).collect()
}

#[sqlx::test(migrations = "../migrations")]
async fn a_prompt_that_extends_no_turn_begins_a_sequence_and_a_branch(pool: PgPool) {
    let run = sampled_by(&pool, Template::Shortens).await;
    let turns = agent_turns(&stories(&run).await[0].events).len();
    let groups = lines(&run, Profile::Groups).await;
    let sequences = groups[0]["completions"][0]["sequences"].as_array().unwrap();
    assert_eq!((sequences.len(), &groups[0]["off_policy"]), (turns, &json!(false)));
    for (number, sequence) in sequences.iter().enumerate() {
        let (ids, sampled) = check_sequence(sequence);
        assert_eq!(sampled, 2, "a turn counts in one sequence");
        assert!(number == 0 || ids.len() > numbers(&sequences[number - 1]["token_ids"]).len());
    }
    let episodes = lines(&run, Profile::Verifiers).await;
    let nodes = episodes[0]["traces"][0]["nodes"].as_array().unwrap();
    let roots = nodes.iter().filter(|node| node["parent"].is_null()).count();
    let sampled = nodes.iter().filter(|node| node["sampled"] == json!(true)).count();
    assert_eq!((roots, sampled), (turns, turns));
    let last: Vec<f64> = nodes.iter().filter_map(|node| node.get("token_ids")).next_back().map(numbers).unwrap();
    assert_eq!(last, numbers(&sequences[turns - 1]["token_ids"]));
}

#[sqlx::test(migrations = "../migrations")]
async fn tokens_that_do_not_fit_are_dropped_with_the_reason(pool: PgPool) {
    let run = sampled(&pool, |request| {
        let mut body = tokens::body(request, &agent::helps(request), Template::Extends);
        if request["messages"].as_array().unwrap().len() > 2 {
            body["choices"][0]["token_ids"] = json!([1]);
        }
        Json(body).into_response()
    })
    .await;
    for story in stories(&run).await {
        let sampling = sampling(&story.events);
        assert!(sampling[0].tokens().is_some());
        let reason = "the endpoint returns 1 token ids and 2 log-probabilities".to_owned();
        assert_eq!(*sampling[1], Sampling::Missing(reason));
    }
    for group in lines(&run, Profile::Groups).await {
        assert_eq!(group["off_policy"], json!(true));
        for completion in group["completions"].as_array().unwrap() {
            assert_eq!((completion.get("sequences"), &completion["reward"]), (None, &json!(1)), "{completion}");
        }
    }
    for episode in lines(&run, Profile::Verifiers).await {
        let trace = &episode["traces"][0];
        assert_eq!((&trace["info"]["off_policy"], trace["nodes"][0].get("token_ids")), (&json!(true), None));
    }
    let groups = lines(&run, Profile::Art).await;
    let trajectory = &groups[0]["trajectories"][0];
    assert_eq!(trajectory["metadata"]["off_policy"], json!(true));
    let said = trajectory["messages_and_choices"].as_array().unwrap();
    assert!(said.iter().all(|said| said.get("logprobs").is_none_or(Value::is_null)), "{trajectory}");
}

#[sqlx::test(migrations = "../migrations")]
async fn what_people_corrected_has_no_tokens(pool: PgPool) {
    let run = sampled_by(&pool, Template::Extends).await;
    let stories = stories(&run).await;
    let story = &stories[0];
    let turn = CorrectedTurn { reasoning: Some("Another thought.".to_owned()), ..CorrectedTurn::default() };
    let new = corrections::CorrectionVersion {
        conversation: story.planned.id,
        seq: *agent_turns(&story.events).last().unwrap(),
        turn: Some(turn),
        author: "ann".to_owned(),
        note: String::new(),
        created_at: clock::now(),
    };
    let mut tx = pool.begin().await.unwrap();
    corrections::insert(&mut tx, &new).await.unwrap();
    tx.commit().await.unwrap();

    let groups = lines(&run, Profile::Groups).await;
    let completions = groups[0]["completions"].as_array().unwrap();
    let have: Vec<bool> = completions.iter().map(|completion| completion.get("sequences").is_some()).collect();
    assert_eq!((have, &groups[0]["off_policy"]), (vec![false, true], &json!(true)));
}

/// Nothing is asked for or stored unless the model says so.
#[sqlx::test(migrations = "../migrations")]
async fn runs_of_other_models_know_nothing_of_tokens(pool: PgPool) {
    let endpoint = Endpoint::start(agent::help).await;
    let run = play_all(planned_as(&pool, &[HELP], 1, 1, &[(Role::Agent, endpoint.model())], |_| {}).await, 1).await;
    let asked = endpoint.requests();
    assert!(!asked.is_empty() && asked.iter().all(|request| request.get("logprobs").is_none()));
    assert!(asked.iter().all(|request| request["stream"] == json!(true)));
    for story in stories(&run).await {
        assert!(!serde_json::to_string(&story.events).unwrap().contains("sampling"));
    }
    let spec: String = sqlx::query_scalar("SELECT spec::text FROM runs").fetch_one(&pool).await.unwrap();
    assert!(!spec.contains("token_ids"), "{spec}");
}
