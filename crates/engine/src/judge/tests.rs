use domain::message::Message;
use domain::role::Role;
use serde_json::{Value, json};

use super::{Judge, merge_replies, per_criterion_requests};
use domain::chat::{ChatReply, ChatRequest};

fn judge() -> Judge {
    let criterion = |name: &str| json!({"name": name, "measures": "m", "weight": 1.0, "anchors": {"0": "a", "3": "b", "6": "c", "9": "d", "10": "e"}});
    let spec = json!({
        "name": "two", "description": "d", "accept_from": 7, "prompt": "prompt.md",
        "criteria": [criterion("truth"), criterion("tone")],
    });
    let files =
        [("judge.yaml", spec.to_string()), ("prompt.md", "Judge this.".into())].map(|(name, text)| (name.into(), text));
    Judge::compile("judges/two", &files.into()).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn ask() -> ChatRequest {
    ChatRequest {
        role: Role::Judge.into(),
        messages: vec![Message::User { content: "Judge this.".into() }],
        tools: Vec::new(),
        schema: None,
        temperature: 0.0,
        max_tokens: 9,
        seed: 1,
    }
}

fn replies(texts: &[&str]) -> Vec<ChatReply> {
    let usage = domain::event::Usage { prompt_tokens: 5, completion_tokens: 2, ..Default::default() };
    texts.iter().map(|text| ChatReply { content: (*text).into(), usage, ..ChatReply::default() }).collect()
}

#[test]
fn each_part_asks_for_one_criterion_and_the_last_for_the_rest() {
    let parts = per_criterion_requests(&judge(), &ask());
    let words = |part: &ChatRequest| match &part.messages[..] {
        [Message::User { content }] => content.clone(),
        other => panic!("{other:?}"),
    };
    assert!(parts.iter().all(|part| words(part).starts_with("Judge this.\n\n# This time")));
    let keys = |part: &ChatRequest| {
        let schema = &part.schema.as_ref().expect("a schema").schema;
        schema["properties"].as_object().expect("fields").keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(
        parts.iter().map(keys).collect::<Vec<_>>(),
        [vec!["score", "rationale"], vec!["score", "rationale"], vec!["overall", "rationale", "goal_achieved"]]
    );
    assert!(words(&parts[0]).contains("`truth`") && words(&parts[1]).contains("`tone`"));
}

#[test]
fn the_parts_are_a_verdict_together() {
    let judge = judge();
    let parts = replies(&[
        r#"{"score": 9, "rationale": "true"}"#,
        "```json\n{\"score\": 3, \"rationale\": \"rude\"}\n```",
        r#"{"overall": 6, "rationale": "so so", "goal_achieved": true}"#,
    ]);
    let reply = merge_replies(&judge, &parts);
    assert_eq!((reply.usage.prompt_tokens, reply.usage.completion_tokens), (15, 6));
    let verdict = judge.read(&reply.json().expect("JSON")).expect("a verdict");
    assert_eq!(
        json!(verdict.scores),
        json!([
            {"criterion": "truth", "score": 9, "rationale": "true"},
            {"criterion": "tone", "score": 3, "rationale": "rude"},
        ])
    );
    assert_eq!((verdict.overall, verdict.goal_achieved), (6, true));
}

#[test]
fn a_part_that_is_none_is_refused_with_its_reason() {
    let judge = judge();
    let fine = r#"{"score": 9, "rationale": "true"}"#;
    let rest = r#"{"overall": 6, "rationale": "so so", "goal_achieved": true}"#;
    for (parts, because) in [
        ([fine, "I like it", rest], "not JSON"),
        ([fine, "[8]", rest], "invalid type"),
        ([fine, r#"{"score": 11, "rationale": "r"}"#, rest], "`tone` is scored 11, above 10"),
        ([fine, r#"{"score": 8, "rationale": ""}"#, rest], "the rationale of `tone` is empty"),
        ([fine, r#"{"criterion": "truth", "score": 8, "rationale": "r"}"#, rest], "`truth` is scored twice"),
        ([fine, fine, r#"{"overall": 6, "rationale": "so so"}"#], "goal_achieved"),
        ([fine, fine, "{}"], "overall"),
    ] {
        let reply = merge_replies(&judge, &replies(&parts));
        let refused = reply.json().and_then(|json: Value| judge.read(&json)).expect_err(because);
        assert!(refused.contains(because), "{refused}");
    }
}
