//! Plays the agent of both playbooks of `project`: looks, asks the keeper, and then labels the box or says that it cannot, at
//! length either way.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use serde_json::{Value, json};

/// What `CHRONICLE` in tools.star says: what a label says must have been read.
const PIECE: &str = "\u{1F469}\u{200D}\u{1F680} e\u{301} \u{5E9}\u{5DC}\u{5D5}\u{5DD} \u{645}\u{631}\u{62D}\u{628}\u{627} \
                     a\u{2028}b\u{2029}c \"said\" \\n is no line \\\\ \t<b>&amp;</b>\n";
const PIECES: usize = 400;
const THOUGHT: &str =
    "Two ways \u{1F914}\u{200D}\u{1F4A8} \u{2013} \"e\u{301}\", \u{645}\u{639}, back\\slash, \u{2028} and\ttab.";

/// Two boxes: tools of the same names take arguments of other types for each.
const BOXES: [&str; 2] = ["hats", "jars"];

pub fn labels() -> Result<String> {
    // Each box is answered both ways, whichever conversations are played at once.
    let decided = BOXES.map(|_| AtomicUsize::new(0));
    super::start("labels", move |request| {
        let request: Value = serde_json::from_str(request).unwrap_or_default();
        let which = usize::from(request.to_string().contains(BOXES[1]));
        let poor = || decided[which].fetch_add(1, Ordering::Relaxed).is_multiple_of(3);
        said(&request["messages"], BOXES[which], poor).to_string()
    })
}

/// What comes next, by how often the agent has called tools.
fn said(messages: &Value, about: &str, poor: impl FnOnce() -> bool) -> Value {
    let messages = messages.as_array().map(Vec::as_slice).unwrap_or_default();
    let calls = messages.iter().filter(|one| one["tool_calls"].is_array()).count();
    let asked = messages.last().is_some_and(|last| last["role"] == "user");
    match calls {
        0 => called(&[("read_label", json!({"box": about})), ("find_owner", json!({"name": THOUGHT}))]),
        1 => called(&[("keeper", json!({"task": format!(r#"Call read_chronicle with {{"box":"{about}"}}."#)}))]),
        2 if asked => words("I am sorry."),
        2 if poor() => words(&format!("I can not do that. I only know this:\n{}", PIECE.repeat(PIECES))),
        2 => called(&[("label_box", label(about))]),
        _ if asked => words("You are welcome."),
        _ => words(&format!("Done \u{1F44D}. The label says:\n{}", PIECE.repeat(PIECES))),
    }
}

fn label(about: &str) -> Value {
    let (place, count) =
        if about == BOXES[0] { (json!("42"), json!(42)) } else { (json!({"row": 7, "shelf": null}), json!("true")) };
    json!({"box": about, "place": place, "count": count, "note": PIECE.repeat(PIECES)})
}

fn called(calls: &[(&str, Value)]) -> Value {
    let call = |(i, (name, arguments)): (usize, &(&str, Value))| json!({"id": format!("call{i}"), "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    json!({"role": "assistant", "content": "", "reasoning_content": THOUGHT, "tool_calls": calls})
}

fn words(content: &str) -> Value {
    json!({"role": "assistant", "content": content, "reasoning_content": THOUGHT})
}
