//! What is found out about endpoints before they are used.

use std::time::Duration;

use domain::api::probe::{Feature, ProbeKind, ProbeOutcome, ReplicaProbe};
use llm::{Availability, Member, PoolSpec, ProbeOptions};
use serde_json::{Value, json};
use strum::VariantArray;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use super::{delta, end, streamed};

pub const OPTIONS: ProbeOptions = ProbeOptions { context_length: Some(64), patience: Duration::from_secs(30) };

/// Answers each question as it should be answered.
pub struct Able;

/// A stream of one part, and its end.
fn says(content: &str) -> ResponseTemplate {
    streamed(&[delta(&json!({"content": content})), end("stop")])
}

fn calls(calls: &[(&str, Value)]) -> ResponseTemplate {
    let parts = calls.iter().zip(0..).flat_map(|((name, arguments), index)| {
        let arguments = arguments.to_string();
        let (one, other) = arguments.split_at(1);
        let head = json!({"index": index, "id": format!("id{index}"), "function": {"name": name, "arguments": one}});
        [head, json!({"index": index, "function": {"arguments": other}})]
    });
    let parts = parts.map(|part| delta(&json!({"tool_calls": [part]})));
    streamed(&parts.chain([end("tool_calls")]).collect::<Vec<_>>())
}

/// What is asked, told by what only that question says.
pub fn kind(asked: &Value) -> ProbeKind {
    let last = asked["messages"].as_array().unwrap().last().unwrap();
    let text = last["content"].as_str().unwrap();
    let says = |words: &str| text.contains(words);
    match () {
        () if asked["return_token_ids"] == true => ProbeKind::TokenIds,
        () if last["role"] == "tool" => ProbeKind::ToolResult,
        () if says("for both cities") => ProbeKind::ParallelToolCalls,
        () if says("Call get_weather") => ProbeKind::ToolCall,
        () if says("place_order") => ProbeKind::NestedArguments,
        () if says("東京") => ProbeKind::UnicodeArguments,
        () if says("send_note") => ProbeKind::BracesInArguments,
        () if says("to 300") => ProbeKind::StopReason,
        () if says("code word") => ProbeKind::ContextOverflow,
        () if says("Invent a name") => ProbeKind::Seed,
        () if asked["response_format"].is_object() || says("Answer with JSON") => ProbeKind::JsonSchema,
        () => ProbeKind::Reply,
    }
}

/// The text that a note is to have.
fn note(asked: &Value) -> &str {
    let text = asked["messages"][0]["content"].as_str().unwrap();
    text.split_once('→').unwrap().1.split_once('←').unwrap().0
}

impl Respond for Able {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let asked: Value = request.body_json().unwrap();
        let city = |name: &str| ("get_weather", json!({ "city": name }));
        match kind(&asked) {
            ProbeKind::ToolCall => calls(&[city("Lisbon")]),
            ProbeKind::ParallelToolCalls => calls(&[city("Lisbon"), city("Oslo")]),
            ProbeKind::NestedArguments => {
                let items = json!([{"article": "A-1", "quantity": 2}, {"article": "B-7", "quantity": 3}]);
                let customer = json!({"name": "Ana Sousa", "city": "Lisbon"});
                calls(&[("place_order", json!({"customer": customer, "items": items, "gift": true}))])
            }
            ProbeKind::UnicodeArguments | ProbeKind::BracesInArguments => {
                calls(&[("send_note", json!({"text": note(&asked)}))])
            }
            ProbeKind::ToolResult => says("23 degrees"),
            ProbeKind::JsonSchema => says(r#"{"city": "Lisbon"}"#),
            ProbeKind::StopReason => streamed(&[delta(&json!({"content": "1, 2, 3"})), end("length")]),
            ProbeKind::ContextOverflow => ResponseTemplate::new(400).set_body_string("too long"),
            ProbeKind::Seed => says("The Kettle. It sells tea."),
            ProbeKind::TokenIds => {
                let logprobs = json!({"content": [{"logprob": -0.5}, {"logprob": -1.0}]});
                let message = json!({"content": "Red, green, blue."});
                let choice = json!({"message": message, "token_ids": [5, 6], "logprobs": logprobs});
                ResponseTemplate::new(200)
                    .set_body_json(json!({"model": "m", "prompt_token_ids": [1, 2], "choices": [choice]}))
            }
            _ => {
                let parts = ["1, 2", ", 3"].map(|part| delta(&json!({ "content": part })));
                streamed(&[parts[0].clone(), parts[1].clone(), end("stop")])
            }
        }
    }
}

/// A model behind what answers like this, under `/v1`.
pub async fn server(answers: impl Respond + 'static) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).and(path("/v1/chat/completions")).respond_with(answers).mount(&server).await;
    server
}

pub async fn probed(server: &MockServer, options: ProbeOptions) -> ReplicaProbe {
    let spec = PoolSpec::new("m", vec![format!("{}/v1", server.uri())]);
    llm::probe(&spec, &[], &options).await.unwrap().remove(0)
}

pub fn outcome(found: &ReplicaProbe, kind: ProbeKind) -> (ProbeOutcome, &str) {
    let check = found.checks.iter().find(|check| check.kind == kind).unwrap();
    (check.outcome, &check.detail)
}

fn used(found: &ReplicaProbe) -> Vec<Feature> {
    found.features.iter().filter(|feature| feature.used).map(|feature| feature.feature).collect()
}

#[tokio::test]
async fn an_endpoint_that_can_all_is_used_for_all() {
    let server = server(Able).await;
    let found = probed(&server, OPTIONS).await;
    let kinds: Vec<ProbeKind> = found.checks.iter().map(|check| check.kind).collect();
    assert_eq!(kinds, ProbeKind::VARIANTS);
    assert!(found.checks.iter().all(|check| check.outcome == ProbeOutcome::Passed), "{found:#?}");
    assert_eq!(outcome(&found, ProbeKind::Reasoning).1, "the model shows none");
    assert_eq!(outcome(&found, ProbeKind::ParallelToolCalls).1, "2 calls in one reply");
    let tokens = "2 tokens of `m` with their log-probabilities, and those of the prompt";
    assert_eq!(outcome(&found, ProbeKind::TokenIds).1, tokens);
    let all = ["FunctionCalling", "ParallelToolCalls", "Pipelining", "JsonSchema", "Seed", "TokenIds"];
    assert_eq!(used(&found).iter().map(|feature| format!("{feature:?}")).collect::<Vec<_>>(), all);
    let asked = server.received_requests().await.unwrap();
    let completions = asked.iter().filter(|request| request.url.path().ends_with("completions")).count();
    assert_eq!(completions, ProbeKind::VARIANTS.len() - 2 + 1, "two follow from the others, and a seed is asked twice");
    assert_eq!(found.usage.unwrap().calls as usize, completions);
}

#[tokio::test]
async fn a_model_that_only_talks_is_asked_for_no_calls() {
    let server = server(says("It is sunny.")).await;
    let found = probed(&server, ProbeOptions { context_length: None, ..OPTIONS }).await;
    for (kind, expected, says) in [
        (ProbeKind::Reply, ProbeOutcome::Passed, "It is sunny."),
        (ProbeKind::Streaming, ProbeOutcome::Warning, "the reply came whole"),
        (ProbeKind::ToolCall, ProbeOutcome::Failed, "it called no tool and said `It is sunny.`"),
        (ProbeKind::ToolResult, ProbeOutcome::Warning, "it did not say what the tool had returned"),
        (ProbeKind::JsonSchema, ProbeOutcome::Failed, "not JSON: "),
        (ProbeKind::StopReason, ProbeOutcome::Skipped, "it said too little to be cut"),
        (ProbeKind::ContextOverflow, ProbeOutcome::Skipped, "the endpoint does not say how long"),
        (ProbeKind::Seed, ProbeOutcome::Passed, "twice the same"),
        (
            ProbeKind::TokenIds,
            ProbeOutcome::Warning,
            "the endpoint returns neither token ids nor log-probabilities: exports",
        ),
    ] {
        let (outcome, detail) = outcome(&found, kind);
        assert!(outcome == expected && detail.starts_with(says), "{kind:?}: {outcome:?} {detail}");
    }
    assert_eq!(used(&found), [Feature::Seed]);
    assert!(found.features[0].detail.contains("use the agent style `react` (not in order: tool_call"), "{found:?}");
}

/// What would become data, and nobody would notice.
#[tokio::test]
async fn silent_damage_is_found() {
    let silent = |request: &Request| {
        let asked: Value = request.body_json().unwrap();
        let usage = json!({"choices": [], "usage": {"prompt_tokens": 60, "completion_tokens": 16}});
        match kind(&asked) {
            ProbeKind::StopReason => streamed(&[delta(&json!({"content": "1, 2, 3, 4"})), end("stop"), usage]),
            ProbeKind::ContextOverflow => streamed(&[delta(&json!({"content": "Hello!"})), end("stop"), usage]),
            ProbeKind::UnicodeArguments => {
                calls(&[("send_note", json!({"text": note(&asked).replace('ó', "\u{fffd}")}))])
            }
            ProbeKind::BracesInArguments => calls(&[("send_note", json!({"text": "if a then"}))]),
            ProbeKind::NestedArguments => {
                let items = json!([{"article": "A-1", "quantity": "2"}, {"article": "B-7", "quantity": 3}]);
                let customer = json!({"name": "Ana Sousa", "city": "Lisbon"});
                calls(&[("place_order", json!({"customer": customer, "items": items, "gift": true}))])
            }
            ProbeKind::Reply => says("<think>Numbers.</think>1, 2, 3"),
            _ => Able.respond(request),
        }
    };
    let found = probed(&server(silent).await, OPTIONS).await;
    for (kind, expected, says) in [
        (ProbeKind::StopReason, ProbeOutcome::Failed, "a reply that was cut says that it is whole"),
        (ProbeKind::ContextOverflow, ProbeOutcome::Failed, "it answered a prompt that is longer than its context"),
        (ProbeKind::UnicodeArguments, ProbeOutcome::Failed, "the endpoint damages arguments"),
        (ProbeKind::BracesInArguments, ProbeOutcome::Warning, "came as `if a then`"),
        (ProbeKind::NestedArguments, ProbeOutcome::Failed, "`/items/0/quantity` should be 2 and is of another type"),
        (ProbeKind::Reasoning, ProbeOutcome::Warning, "between tags"),
    ] {
        let (outcome, detail) = outcome(&found, kind);
        assert!(outcome == expected && detail.contains(says), "{kind:?}: {outcome:?} {detail}");
    }
}

#[tokio::test]
async fn what_refuses_or_is_not_there_says_so_once() {
    let server = server(ResponseTemplate::new(401).set_body_string("no such key")).await;
    let spec = PoolSpec::new("m", vec![format!("{}/v1", server.uri()), "http://127.0.0.1:9/v1".into()]);
    let found = llm::probe(&spec, &[], &OPTIONS).await.unwrap();
    for (replica, says) in found.iter().zip(["answered 401 (no such key)", "cannot be reached"]) {
        let (first, rest) = replica.checks.split_first().unwrap();
        assert!(first.outcome == ProbeOutcome::Failed && first.detail.starts_with(says), "{first:?}");
        assert!(first.first_byte_ms.is_none());
        assert!(rest.iter().all(|check| check.outcome == ProbeOutcome::Skipped), "{rest:?}");
        assert!(replica.features.is_empty(), "nothing is known of it");
    }
    let asked = server.received_requests().await.unwrap();
    assert_eq!(asked.iter().filter(|request| request.method == "POST").count(), 1, "it is asked nothing else");
}

#[tokio::test]
async fn one_that_hangs_is_waited_for_no_longer_than_said() {
    let server = server(says("late").set_delay(Duration::from_mins(1))).await;
    let options = ProbeOptions { patience: Duration::from_millis(300), ..OPTIONS };
    let (outcome, detail) = {
        let found = probed(&server, options).await;
        let (outcome, detail) = outcome(&found, ProbeKind::Reply);
        (outcome, detail.to_owned())
    };
    assert!(outcome == ProbeOutcome::Failed && detail.contains("took"), "{detail}");
}

#[tokio::test]
async fn engines_of_workers_are_asked_too() {
    let server = server(Able).await;
    let list = json!({"data": [{"id": "weights", "max_model_len": 128}]});
    let models = Mock::given(method("GET")).and(path("/v1/models"));
    models.respond_with(ResponseTemplate::new(200).set_body_json(list)).mount(&server).await;
    let worker = Member {
        worker: 1,
        url: format!("{}/v1", server.uri()),
        served_as: Some("weights".into()),
        key_env: None,
        max_in_flight: None,
        standing: Availability::Serving,
    };
    let options = ProbeOptions { context_length: None, ..OPTIONS };
    let found = llm::probe(&PoolSpec::of_workers("m"), &[worker], &options).await.unwrap();
    assert_eq!((found.len(), found[0].context_length), (1, Some(128)));
    assert_eq!(outcome(&found[0], ProbeKind::ContextOverflow).0, ProbeOutcome::Passed);
    let asked = server.received_requests().await.unwrap();
    let post = asked.iter().find(|request| request.method == "POST").unwrap();
    assert_eq!(post.body_json::<Value>().unwrap()["model"], "weights");
    let none = llm::probe(&PoolSpec::of_workers("m"), &[], &OPTIONS).await.unwrap();
    assert_eq!(none, []);
}
