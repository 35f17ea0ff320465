//! Embedding models and rerankers.

use domain::encoder::{EncoderRequest, EncoderTask};
use domain::event::Usage;
use domain::role::RoleId;
use llm::{Answer, Failure, ModelError};
use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{endpoint, options};

fn embed(texts: &[&str]) -> EncoderTask {
    EncoderTask::Embed { texts: texts.iter().map(|text| (*text).to_owned()).collect() }
}

fn rerank() -> EncoderTask {
    EncoderTask::Rerank { query: "who".into(), documents: ["a".to_owned(), "b".to_owned()].into(), most: 1 }
}

/// What comes of a task, and the requests that it took.
async fn asked(task: EncoderTask, answers: Vec<ResponseTemplate>) -> (Result<Answer, ModelError>, Vec<Value>) {
    let at = match task {
        EncoderTask::Embed { .. } => "/v1/embeddings",
        EncoderTask::Rerank { .. } => "/v1/rerank",
    };
    let server = MockServer::start().await;
    for answer in answers {
        Mock::given(method("POST")).and(path(at)).respond_with(answer).up_to_n_times(1).mount(&server).await;
    }
    let ask = EncoderRequest { role: RoleId::named("encoder"), seed: 1, task };
    let answer = endpoint(&server.uri(), options()).encode(&ask, 0).await;
    let requests = server.received_requests().await.unwrap();
    (answer, requests.iter().map(|request| request.body_json().unwrap()).collect())
}

fn json_answer(body: Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(body)
}

fn raw_answer(body: &str) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_raw(body, "application/json")
}

#[tokio::test]
async fn vectors_come_in_the_order_of_the_texts() {
    let body = json!({"object": "list", "model": "m", "usage": {"prompt_tokens": 7, "total_tokens": 7}, "data": [
        {"object": "embedding", "index": 1, "embedding": [0.300_000_011_920_929, -1]},
        {"object": "embedding", "index": 0, "embedding": [1e-9, 2]}]});
    let (answer, requests) = asked(embed(&["one", "two"]), vec![json_answer(body)]).await;
    let answer = answer.unwrap();
    assert_eq!(answer.reply.content, "[[1e-9,2.0],[0.3,-1.0]]");
    assert_eq!(answer.reply.usage, Usage { prompt_tokens: 7, ..Usage::default() });
    assert_eq!(requests, [json!({"model": "org/m:1", "input": ["one", "two"], "encoding_format": "float"})]);
}

#[tokio::test]
async fn scores_are_read_in_the_shape_of_jina_cohere_and_vllm() {
    let body = json!({"results": [{"index": 1, "relevance_score": 0.5, "document": {"text": "b"}}], "usage": {"total_tokens": 3}});
    let (answer, requests) = asked(rerank(), vec![json_answer(body)]).await;
    let answer = answer.unwrap();
    assert_eq!((answer.reply.content.as_str(), answer.reply.usage.prompt_tokens), (r#"[{"index":1,"score":0.5}]"#, 3));
    let sent =
        json!({"model": "org/m:1", "query": "who", "documents": ["a", "b"], "top_n": 1, "return_documents": false});
    assert_eq!(requests, [sent]);
}

#[tokio::test]
async fn a_busy_endpoint_is_asked_again() {
    let busy = || ResponseTemplate::new(503).set_body_string("loading");
    let fine = raw_answer(r#"{"data": [{"embedding": [NaN, 1.5, -Infinity]}]}"#);
    let (answer, requests) = asked(embed(&["one"]), vec![busy(), busy(), fine]).await;
    let answer = answer.unwrap();
    assert_eq!((answer.attempts, requests.len()), (3, 3));
    // What is no number is left to those who read it.
    assert_eq!(answer.reply.content, "[[null,1.5,null]]");
}

#[tokio::test]
async fn what_would_come_out_the_same_again_is_not_asked_again() {
    let refusal = ResponseTemplate::new(413).set_body_json(json!({"error": {"message": "8,193 tokens"}}));
    let twice = json_answer(json!({"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}));
    for (answer, expected) in [
        (refusal, "it refuses these texts with 413 (8,193 tokens)"),
        (twice, "its vectors are not numbered from 0 on, one each"),
    ] {
        let (failed, requests) = asked(embed(&["one", "two"]), vec![answer]).await;
        assert!(
            matches!(failed.unwrap_err().failure, Failure::Unusable { reason, .. } if reason == expected),
            "{expected}"
        );
        assert_eq!(requests.len(), 1);
    }
}

#[tokio::test]
async fn an_endpoint_without_the_path_and_one_that_says_something_else() {
    let (missing, _) = asked(rerank(), Vec::new()).await;
    assert!(matches!(missing.unwrap_err().failure, Failure::Refused { status: 404, .. }));
    let chat = || raw_answer("<html>It works!</html>");
    let (garbled, requests) = asked(rerank(), vec![chat(), chat(), chat()]).await;
    assert_eq!(garbled.unwrap_err().failure, Failure::Garbled { found: "<html>It works!</html>".to_owned() });
    assert_eq!(requests.len(), 3);
}
