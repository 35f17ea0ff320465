//! Token ids and log-probabilities, as engines return them, and what becomes of those that cannot be used.

use domain::chat::{ChatReply, ChatRequest};
use domain::role::Role;
use domain::sampling::{SampledTokens, Sampling};
use llm::{ModelError, Pool, PoolSpec};
use serde_json::{Value, json};
use wiremock::matchers::{body_partial_json, method};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{ask, events, fine, options, server};

const WHOLE: &str = include_str!("../recorded/llama-server/tokens.json");
const STREAM: &str = include_str!("../recorded/llama-server/tokens.sse");

fn keeping(server: &MockServer) -> Pool {
    let spec = PoolSpec { token_ids: true, ..PoolSpec::new("org/m", vec![format!("{}/v1", server.uri())]) };
    Pool::new(&spec, options()).unwrap()
}

async fn asked(answer: ResponseTemplate) -> Result<ChatReply, ModelError> {
    keeping(&server([answer]).await).ask(&ask()).await
}

/// The tokens of a reply that this is the body of, or why there are none.
async fn sampling(body: impl Into<String>) -> Result<SampledTokens, String> {
    let reply = asked(ResponseTemplate::new(200).set_body_raw(body.into(), "application/json")).await.unwrap();
    assert_eq!(reply.content, "No.", "the reply itself is not lost");
    match reply.sampling.unwrap() {
        Sampling::Tokens(tokens) => Ok(SampledTokens::clone(&tokens)),
        Sampling::Missing(reason) => Err(reason),
    }
}

async fn missing(body: &Value) -> String {
    sampling(body.to_string()).await.unwrap_err()
}

fn logprobs(all: &[f32]) -> Value {
    let entry = |logprob: &f32| json!({"token": "No", "logprob": logprob, "bytes": [78, 111], "top_logprobs": []});
    json!({"content": all.iter().map(entry).collect::<Vec<_>>()})
}

/// As vLLM answers that was asked with `return_token_ids`.
fn vllm() -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "model": "org/m", "system_fingerprint": "fp_1",
        "choices": [{
            "index": 0, "finish_reason": "stop", "stop_reason": null, "token_ids": [7, 8],
            "message": {"role": "assistant", "content": "No.", "tool_calls": []}, "logprobs": logprobs(&[-0.25, -1.5]),
        }],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
        "prompt_logprobs": null, "prompt_token_ids": [1, 2, 3],
    })
}

fn expected() -> SampledTokens {
    SampledTokens {
        shared: 0,
        prompt: Some(vec![1, 2, 3]),
        completion: vec![7, 8],
        logprobs: vec![-0.25, -1.5],
        policy: "org/m fp_1".to_owned(),
    }
}

#[tokio::test]
async fn only_the_agents_reply_is_asked_for_with_its_tokens_and_whole() {
    let server = server([fine()]).await;
    let pool = keeping(&server);
    let user = ChatRequest { role: Role::SimulatedUser.into(), ..ask() };
    for ask in [&ask(), &user] {
        pool.ask(ask).await.unwrap();
    }
    let requests = server.received_requests().await.unwrap();
    let [agents, users] = [0, 1].map(|number: usize| requests[number].body_json::<Value>().unwrap());
    let tokens = json!({"return_token_ids": true, "logprobs": true, "top_logprobs": 1, "stream": false});
    for (field, value) in tokens.as_object().unwrap() {
        assert_eq!(agents[field], *value, "{field}");
    }
    assert_eq!(agents.get("stream_options"), None, "vLLM refuses it without a stream");
    assert_eq!((&users["stream"], users.get("logprobs"), users.get("return_token_ids")), (&json!(true), None, None));
}

#[tokio::test]
async fn tokens_are_read_in_all_shapes() {
    assert_eq!(sampling(vllm().to_string()).await, Ok(expected()));

    // SGLang has both lists in the choice, and names its weights.
    let mut sglang = vllm();
    sglang["choices"][0]["prompt_token_ids"] = sglang["prompt_token_ids"].take();
    sglang["metadata"] = json!({"weight_version": "step-12"});
    let with_weights = SampledTokens { policy: "org/m step-12 fp_1".to_owned(), ..expected() };
    assert_eq!(sampling(sglang.to_string()).await, Ok(with_weights));

    // An older vLLM writes the ids in the place of the tokens.
    let mut older = vllm();
    older["choices"][0]["token_ids"] = Value::Null;
    for (entry, id) in [(0, 7), (1, 8)] {
        older["choices"][0]["logprobs"]["content"][entry]["token"] = json!(format!("token_id:{id}"));
    }
    assert_eq!(sampling(older.to_string()).await, Ok(expected()));

    let delta = |delta: Value, ids: Value, logprobs: Value| json!({"model": "org/m", "choices": [{"index": 0, "delta": delta, "token_ids": ids, "logprobs": logprobs}]});
    let mut first = delta(json!({"role": "assistant", "content": ""}), Value::Null, Value::Null);
    first["prompt_token_ids"] = json!([1, 2, 3]);
    let chunks = [
        first,
        delta(json!({"content": "No"}), json!([7]), logprobs(&[-0.25])),
        // A parser of tool calls holds the text back, and not the tokens.
        delta(json!({}), json!([8]), logprobs(&[-1.5])),
        delta(json!({"content": "."}), json!([]), Value::Null),
        json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}),
    ];
    let streamed = SampledTokens { policy: "org/m".to_owned(), ..expected() };
    assert_eq!(sampling(events(&chunks)).await, Ok(streamed));
}

#[tokio::test]
async fn llama_server_returns_the_tokens_of_the_reply_alone() {
    let expected = SampledTokens {
        prompt: None,
        completion: vec![5230, 30, 2],
        logprobs: vec![-0.826_865_26, -0.821_468_23, -0.657_358_77],
        policy: "smollm2 b0-unknown".to_owned(),
        ..SampledTokens::default()
    };
    assert_eq!(sampling(WHOLE).await, Ok(expected));
    // In a stream it leaves out the token that ends the reply, and counts it.
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 28, "completion_tokens": 3}});
    let counted = STREAM.replace("data: [DONE]", &format!("data: {usage}\n\ndata: [DONE]"));
    assert_eq!(sampling(counted).await, Err("the endpoint counts 3 tokens of the reply and returns 2".to_owned()));
}

#[tokio::test]
async fn what_cannot_be_used_costs_the_tokens_and_not_the_reply() {
    let with = |pointer: &str, value: Value| {
        let mut body = vllm();
        *body.pointer_mut(pointer).unwrap() = value;
        body
    };
    let (ids, probabilities) = ("/choices/0/token_ids", "/choices/0/logprobs");
    let one = "/choices/0/logprobs/content/1/logprob";
    for (body, reason) in [
        (with(ids, json!([7])), "the endpoint returns 1 token ids and 2 log-probabilities"),
        (with(ids, json!([7, 8, 9])), "the endpoint returns 3 token ids and 2 log-probabilities"),
        (with(ids, Value::Null), "the endpoint returns log-probabilities without token ids"),
        (with(probabilities, Value::Null), "the endpoint returns token ids without log-probabilities"),
        (with("/prompt_token_ids", json!([1])), "the endpoint counts 3 tokens of the prompt and returns 1"),
        (with("/usage/completion_tokens", json!(5)), "the endpoint counts 5 tokens of the reply and returns 2"),
        (with(one, Value::Null), "the endpoint returns a log-probability that is no finite number"),
        (with(one, json!(-1e300)), "the endpoint returns a log-probability that is no finite number"),
        (with(one, json!(0.5)), "the endpoint returns 0.5 as a log-probability"),
        (with(ids, json!([7, -8])), "the endpoint's tokens cannot be read: "),
        (with(ids, json!([7, 4_294_967_296_u64])), "the endpoint's tokens cannot be read: "),
        (with(ids, json!("7 8")), "the endpoint's tokens cannot be read: "),
        (
            with(probabilities, json!({"tokens": ["No"], "token_logprobs": [-0.5]})),
            "the endpoint returns token ids without",
        ),
        (
            with("/prompt_token_ids", json!(vec![1; (1 << 20) + 1])),
            "the endpoint's tokens cannot be read: invalid length",
        ),
        (with(ids, json!(vec![1; (1 << 17) + 1])), "the endpoint's tokens cannot be read: invalid length"),
    ] {
        let found = missing(&body).await;
        assert!(found.starts_with(reason), "{reason}: {found}");
    }
    let mut none = vllm();
    none["choices"][0]
        .as_object_mut()
        .unwrap()
        .retain(|field, _| ["index", "message", "finish_reason"].contains(&&**field));
    assert_eq!(missing(&none).await, "the endpoint returns neither token ids nor log-probabilities");
    for number in ["NaN", "-Infinity", "1e999"] {
        let body = vllm().to_string().replace("-1.5", number);
        let found = sampling(body).await.unwrap_err();
        assert!(found.starts_with("the endpoint"), "{number}: {found}");
    }
}

#[tokio::test]
async fn what_names_the_weights_is_short_and_may_be_missing() {
    let mut body = vllm();
    body["model"] = json!("m\n\0".to_owned() + &"x".repeat(1000));
    let policy = sampling(body.to_string()).await.unwrap().policy;
    assert_eq!((policy.len(), &policy[..3]), (200, "mxx"));
    body["metadata"] = json!("m");
    assert_eq!(sampling(body.to_string()).await.unwrap().policy, "", "the tokens are good without it");
}

#[tokio::test]
async fn an_endpoint_that_refuses_the_question_still_plays() {
    let server = MockServer::start().await;
    let refusal = ResponseTemplate::new(400).set_body_json(json!({"error": {"message": "unknown argument"}}));
    let tokens = body_partial_json(json!({"return_token_ids": true}));
    Mock::given(method("POST")).and(tokens).respond_with(refusal).mount(&server).await;
    Mock::given(method("POST")).respond_with(fine()).mount(&server).await;
    let pool = keeping(&server);
    for requests in [2, 3] {
        let reply = pool.ask(&ask()).await.unwrap();
        let reason = "the endpoint refuses requests for token ids and log-probabilities".to_owned();
        assert_eq!((reply.content.as_str(), reply.sampling), ("fine", Some(Sampling::Missing(reason))));
        assert_eq!(server.received_requests().await.unwrap().len(), requests, "it is asked for them once");
    }
}

#[tokio::test]
async fn a_request_that_is_refused_without_tokens_too_is_at_fault_itself() {
    let refusal = |message| ResponseTemplate::new(400).set_body_json(json!({"error": {"message": message}}));
    let body = ResponseTemplate::new(200).set_body_json(vllm());
    let server = server([refusal("too long"), refusal("still too long"), body]).await;
    let pool = keeping(&server);
    let failure = pool.ask(&ask()).await.unwrap_err().failure;
    assert_eq!(failure, llm::Failure::Refused { status: 400, message: "too long".into() });
    let reply = pool.ask(&ask()).await.unwrap();
    assert_eq!(reply.sampling.unwrap().tokens().map(|tokens| SampledTokens::clone(tokens)), Some(expected()));
}
