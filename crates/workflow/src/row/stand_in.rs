//! Functions that answer in place of models and tools: seeded and pure.

use domain::chat::{ChatReply, ChatRequest};
use domain::encoder::EncoderTask;
use domain::event::Usage;
use domain::message::Message;
use domain::seed::Seed;
use domain::task::Resolution;
use serde_json::{Value, json};

use crate::datum::Datum;
use crate::fold::{Fold, RequestKind};
use crate::plan::NO_CLOCK;

/// Letters of a token, about.
const LETTERS_A_TOKEN: usize = 4;

pub fn answer(fold: &Fold, seed: &Seed, id: u64) -> Resolution {
    if let Some(scripted) = fold.scripted(id) {
        return scripted;
    }
    let lost = |reason: String| Resolution::Lost { reason };
    let name = match fold.open_requests().find(|(open, _)| *open == id) {
        Some((_, RequestKind::Model(role))) => role.as_str(),
        Some((_, RequestKind::Tool(name))) => name,
        _ => return lost("only models and tools have stand-ins".to_owned()),
    };
    let place = fold.place_of(id).zip(fold.asked_with(id));
    let Some((((step, sample, attempt), (workflow, values)), asked)) = place.zip(Asked::of(fold, id)) else {
        return lost("nothing is asked".to_owned());
    };
    let Some(function) = workflow.spec.stand_ins.get(name) else {
        return lost(format!("the workflow `{}` names no stand-in for `{name}`", workflow.spec.name));
    };
    let mut request = json!({
        "step": step,
        "sample": sample,
        "attempt": attempt,
        "seed": seed.sampling(&format!("stand_in/{step}/{sample}/{attempt}")),
        "values": values,
    });
    if let (Value::Object(request), Value::Object(fields)) = (&mut request, asked.fields()) {
        request.extend(fields);
    }
    match (workflow.code.answer(function, &[Datum::from(request).node()], &[], &NO_CLOCK), asked) {
        (Ok(answer), Asked::Words(prompt)) => Resolution::Reply(reply(&answer, fold.is_of_json(id), &prompt.messages)),
        (Ok(answer), Asked::Numbers(task)) => {
            let (content, usage) = (answer.to_string(), used(letters(&task), 0));
            Resolution::Reply(ChatReply { content, usage, ..ChatReply::default() })
        }
        (Ok(answer), Asked::Tool(_)) => Resolution::Message(json!({"value": answer})),
        // Tools may fail, and what the workflow makes of that is part of it.
        (Err(error), Asked::Tool(_)) => Resolution::Message(json!({"error": format!("failed: {error}")})),
        (Err(error), _) => lost(format!("`{function}` failed: {error}")),
    }
}

/// What a stand-in is asked.
enum Asked {
    Words(ChatRequest),
    Numbers(EncoderTask),
    Tool(Value),
}

impl Asked {
    fn of(fold: &Fold, id: u64) -> Option<Self> {
        if let Some(prompt) = fold.prompt(id) {
            return Some(Self::Words(prompt));
        }
        if let Some(asked) = fold.encoder_request(id) {
            return Some(Self::Numbers(asked.task));
        }
        fold.message(id).map(Self::Tool)
    }

    /// What the function is told of it.
    fn fields(&self) -> Value {
        match self {
            Self::Words(prompt) => {
                let last = prompt.messages.iter().rev().find(|message| matches!(message, Message::User { .. }));
                json!({"prompt": last.map_or("", Message::content), "messages": prompt.messages})
            }
            Self::Numbers(EncoderTask::Embed { texts }) => json!({"texts": **texts}),
            Self::Numbers(EncoderTask::Rerank { query, documents, most }) => {
                json!({"query": **query, "documents": **documents, "k": most})
            }
            Self::Tool(message) => message.clone(),
        }
    }
}

fn letters(task: &EncoderTask) -> usize {
    let (query, texts) = match task {
        EncoderTask::Embed { texts } => ("", texts),
        EncoderTask::Rerank { query, documents, .. } => (&**query, documents),
    };
    query.len() + texts.iter().map(String::len).sum::<usize>()
}

/// A text is the reply. A list of texts is one line each, unless JSON is wanted; other JSON is written out. `{"calls": [{"tool", "arguments"}]}` calls
/// tools.
fn reply(answer: &Value, of_json: bool, messages: &[Message]) -> ChatReply {
    let content = match answer {
        Value::String(text) => text.clone(),
        Value::Array(items) if !of_json && items.iter().all(Value::is_string) => {
            items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    };
    let calls = answer.get("calls").and_then(Value::as_array);
    let tool_calls: Vec<_> = calls
        .into_iter()
        .flatten()
        .map(|call| {
            let name = call.get("tool").and_then(Value::as_str).unwrap_or_default().to_owned();
            let arguments = call.get("arguments").map_or_else(|| "{}".to_owned(), Value::to_string);
            domain::message::ToolCall::new(String::new(), name, arguments)
        })
        .collect();
    let content = if tool_calls.is_empty() { content } else { String::new() };
    let asked = messages.iter().map(|message| message.content().len()).sum();
    let usage = used(asked, content.len());
    ChatReply { content, tool_calls, usage, ..ChatReply::default() }
}

/// What letters would take of tokens.
fn used(asked: usize, said: usize) -> Usage {
    let tokens = |letters: usize| letters.div_ceil(LETTERS_A_TOKEN) as u64;
    Usage { prompt_tokens: tokens(asked), completion_tokens: tokens(said), ..Usage::default() }
}
