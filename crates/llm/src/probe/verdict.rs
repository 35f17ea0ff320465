//! What a reply says of the endpoint that gave it.

use std::collections::BTreeSet;

use domain::api::probe::{ProbeCheck, ProbeKind, ProbeOutcome};
use domain::chat::ChatReply;
use domain::message::ToolCall;
use domain::sampling::Sampling;
use serde_json::{Value, json};

use super::question::{BRACES, CITIES, DEGREES, FEW_TOKENS, SECRET, UNICODE};
use crate::client::TimedReply;
use crate::error::Failure;

/// Letters of a reply that are shown.
const SHOWN: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub outcome: ProbeOutcome,
    pub detail: String,
}

impl Verdict {
    pub fn passed(detail: impl Into<String>) -> Self {
        Self { outcome: ProbeOutcome::Passed, detail: detail.into() }
    }

    pub fn warning(detail: impl Into<String>) -> Self {
        Self { outcome: ProbeOutcome::Warning, detail: detail.into() }
    }

    pub fn failed(detail: impl Into<String>) -> Self {
        Self { outcome: ProbeOutcome::Failed, detail: detail.into() }
    }

    pub fn skipped(detail: impl Into<String>) -> Self {
        Self { outcome: ProbeOutcome::Skipped, detail: detail.into() }
    }

    pub fn check(self, kind: ProbeKind, first_byte_ms: Option<u64>, total_ms: u64) -> ProbeCheck {
        ProbeCheck { kind, outcome: self.outcome, detail: self.detail, first_byte_ms, total_ms }
    }
}

/// Of a whole reply.
pub fn of(kind: ProbeKind, reply: &ChatReply, context_length: Option<u64>) -> Verdict {
    let called = match kind {
        ProbeKind::ToolCall => one_call(reply),
        ProbeKind::ParallelToolCalls => both_calls(reply),
        ProbeKind::NestedArguments => nested(reply),
        ProbeKind::UnicodeArguments => letter_for_letter(reply, UNICODE),
        ProbeKind::BracesInArguments => letter_for_letter(reply, BRACES),
        ProbeKind::ToolResult => Ok(used_the_result(reply)),
        ProbeKind::JsonSchema => json_of_a_city(reply),
        ProbeKind::StopReason => Ok(was_cut(reply)),
        ProbeKind::ContextOverflow => Ok(was_too_long(reply, context_length.unwrap_or_default())),
        ProbeKind::TokenIds => Ok(tokens(reply)),
        ProbeKind::Reply | ProbeKind::Streaming | ProbeKind::Reasoning | ProbeKind::Seed => Ok(words(reply)),
    };
    called.unwrap_or_else(Verdict::failed)
}

/// Of a request that gave no reply, which is right for some.
pub fn of_failure(kind: ProbeKind, failure: &Failure) -> Verdict {
    let says = failure.to_string();
    match (kind, failure) {
        (ProbeKind::StopReason, Failure::Stopped { reason, .. }) if reason == "length" => {
            Verdict::passed("a reply that was cut says so: finish_reason `length`")
        }
        // Hosted models that reason refuse a limit that leaves no room for a reply.
        (ProbeKind::StopReason, Failure::Refused { status: 400, message }) if message.contains("max_") => {
            Verdict::passed(format!("it refuses to cut a reply: {}", shown(message)))
        }
        (ProbeKind::ContextOverflow, Failure::Refused { status: 400 | 413 | 422, message }) => {
            Verdict::passed(format!("it refuses what is too long: {}", shown(message)))
        }
        (ProbeKind::ContextOverflow, Failure::Refused { status: 500, message }) => Verdict::warning(format!(
            "it refuses what is too long as a fault of its own (500: {}): such calls are retried in vain",
            shown(message)
        )),
        (ProbeKind::ContextOverflow, Failure::Stopped { .. }) => Verdict::warning(
            "it took a prompt that is longer than its context, and was cut at once: long conversations end as cut",
        ),
        (ProbeKind::ToolResult, Failure::Refused { .. }) => {
            Verdict::failed(format!("it takes no results of tools ({says}); use the agent style `json` or `react`"))
        }
        _ => Verdict::failed(says),
    }
}

/// Of two replies to one ask.
pub fn same(one: &ChatReply, other: &ChatReply) -> Verdict {
    if one.content == other.content && one.tool_calls == other.tool_calls {
        return Verdict::passed(format!("twice the same: {}", shown(&one.content)));
    }
    Verdict::warning("the same seed gave two replies: conversations cannot be reproduced exactly")
}

pub fn streaming(parts: u32) -> Verdict {
    match parts {
        0 | 1 => Verdict::warning(
            "the reply came whole: an endpoint that hangs is noticed late, and tools wait for the whole reply",
        ),
        _ => Verdict::passed(format!("the reply came in {parts} parts")),
    }
}

/// Where reasoning stood in any of the replies.
pub fn reasoning(all: &[&TimedReply]) -> Verdict {
    if all.iter().any(|heard| domain::reasoning::split(&heard.reply.content, None).1.is_some()) {
        return Verdict::warning(
            "it is in the reply itself, between tags, and is taken out there; start the engine with a parser for \
             reasoning to be sure",
        );
    }
    match all.iter().find_map(|heard| heard.manner.reasoning) {
        Some(field) => Verdict::passed(format!("it is in `{field}`")),
        None => Verdict::passed("the model shows none"),
    }
}

fn tokens(reply: &ChatReply) -> Verdict {
    let missing = match &reply.sampling {
        Some(Sampling::Tokens(tokens)) => {
            let of = if tokens.policy.is_empty() { String::new() } else { format!(" of `{}`", shown(&tokens.policy)) };
            let count = tokens.completion.len();
            if tokens.prompt.is_some() {
                return Verdict::passed(format!(
                    "{count} tokens{of} with their log-probabilities, and those of the prompt"
                ));
            }
            return Verdict::warning(format!(
                "{count} tokens{of} with their log-probabilities, but not those of the prompt: only exports for ART have them"
            ));
        }
        Some(Sampling::Missing(reason)) => reason,
        None => "it was not asked for them",
    };
    Verdict::warning(format!("{missing}: exports of groups say `off_policy`"))
}

fn words(reply: &ChatReply) -> Verdict {
    match reply.content.trim() {
        "" => Verdict::failed("the reply is empty"),
        said => Verdict::passed(shown(said)),
    }
}

fn first_call(reply: &ChatReply) -> Result<(&ToolCall, Value), String> {
    let none = || {
        format!(
            "it called no tool and said `{}`; the agent styles `json` and `react` need no tool calls",
            shown(&reply.content)
        )
    };
    let call = reply.tool_calls.first().ok_or_else(none)?;
    Ok((call, arguments(call)?))
}

fn arguments(call: &ToolCall) -> Result<Value, String> {
    call.arguments().map_err(|e| format!("the arguments of {} cannot be read: {e}", shown(call.name())))
}

fn one_call(reply: &ChatReply) -> Result<Verdict, String> {
    let (call, arguments) = first_call(reply)?;
    names_the_city(&arguments)?;
    if reply.tool_calls.len() > 1 {
        return Ok(Verdict::warning(format!("it made {} calls where one was asked for", reply.tool_calls.len())));
    }
    Ok(Verdict::passed(format!("{}({})", shown(call.name()), shown(&arguments.to_string()))))
}

fn both_calls(reply: &ChatReply) -> Result<Verdict, String> {
    first_call(reply)?;
    let calls = &reply.tool_calls;
    let asked = calls.iter().map(arguments).collect::<Result<Vec<_>, _>>()?;
    let was_asked_for =
        |city: &&str| asked.iter().any(|own| own["city"].as_str().is_some_and(|own| own.contains(*city)));
    if !CITIES.iter().all(was_asked_for) {
        return Ok(Verdict::warning("it calls one tool at a time: what could be done at once takes more turns"));
    }
    let ids: BTreeSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    if ids.len() < calls.len() {
        return Err("its calls have the same id: their results cannot be told apart".to_owned());
    }
    Ok(Verdict::passed(format!("{} calls in one reply", calls.len())))
}

fn nested(reply: &ChatReply) -> Result<Verdict, String> {
    let (_, arguments) = first_call(reply)?;
    let wanted = [
        ("/customer/city", json!("Lisbon")),
        ("/items/0/quantity", json!(2)),
        ("/items/1/article", json!("B-7")),
        ("/items/1/quantity", json!(3)),
        ("/gift", json!(true)),
    ];
    let wrong = wanted.iter().find(|(pointer, value)| arguments.pointer(pointer) != Some(value));
    let Some((pointer, value)) = wrong else { return Ok(Verdict::passed(shown(&arguments.to_string()))) };
    let found = arguments.pointer(pointer).unwrap_or(&Value::Null);
    // An object in a string, or a number in one, is what the endpoint made of it; another value is what the model says.
    if arguments.pointer("/customer").is_some_and(Value::is_string) || found.as_str() == Some(&value.to_string()) {
        return Err(format!("`{pointer}` should be {value} and is of another type: {}", shown(&arguments.to_string())));
    }
    Ok(Verdict::warning(format!("`{pointer}` should be {value} and is {}", shown(&found.to_string()))))
}

fn letter_for_letter(reply: &ChatReply, wanted: &str) -> Result<Verdict, String> {
    let (_, arguments) = first_call(reply)?;
    let found = arguments["text"].as_str().unwrap_or_default();
    if found == wanted {
        return Ok(Verdict::passed(shown(found)));
    }
    let escaped = serde_json::to_string(wanted).is_ok_and(|escaped| escaped.trim_matches('"') == found);
    if found.contains('\u{fffd}') || found.contains("\\u") || (escaped && wanted != found) {
        return Err(format!("`{wanted}` came as `{}`: the endpoint damages arguments", shown(found)));
    }
    Ok(Verdict::warning(format!("`{wanted}` came as `{}`", shown(found))))
}

fn used_the_result(reply: &ChatReply) -> Verdict {
    if reply.content.contains(DEGREES) {
        return Verdict::passed(shown(&reply.content));
    }
    match reply.tool_calls.first() {
        Some(_) => Verdict::warning("it called the tool again instead of reading what it had returned"),
        None => Verdict::warning(format!("it did not say what the tool had returned: `{}`", shown(&reply.content))),
    }
}

fn json_of_a_city(reply: &ChatReply) -> Result<Verdict, String> {
    let value = reply.json().map_err(|e| format!("{e}; it said `{}`", shown(&reply.content)))?;
    names_the_city(&value)?;
    Ok(Verdict::passed(shown(&value.to_string())))
}

/// Of a reply that had no room, and says that it is whole.
fn was_cut(reply: &ChatReply) -> Verdict {
    let few = u64::from(FEW_TOKENS);
    let said = reply.content.len() as u64;
    match reply.usage.completion_tokens {
        // It counts nothing: so many letters are more than the first tokens have.
        0 if said > 2 * few => cut_in_silence(&reply.content),
        tokens if tokens > few => Verdict::warning(format!(
            "it wrote {tokens} tokens where {few} were the most: `max_completion_tokens` is not heeded"
        )),
        tokens if tokens == few => cut_in_silence(&reply.content),
        _ => Verdict::skipped(format!("it said too little to be cut: `{}`", shown(&reply.content))),
    }
}

fn cut_in_silence(said: &str) -> Verdict {
    Verdict::failed(format!(
        "a reply that was cut says that it is whole: half replies would become data: `{}`",
        shown(said)
    ))
}

fn was_too_long(reply: &ChatReply, context_length: u64) -> Verdict {
    if reply.usage.prompt_tokens > context_length {
        return Verdict::passed(format!("it read {} tokens: its context is longer", reply.usage.prompt_tokens));
    }
    if reply.content.contains(SECRET) {
        return Verdict::passed("it read all of it: its context is longer");
    }
    Verdict::failed(
        "it answered a prompt that is longer than its context: it forgets the beginning and does not say so; start the \
         engine without context shift",
    )
}

fn names_the_city(value: &Value) -> Result<(), String> {
    let city = CITIES[0];
    match value["city"].as_str() {
        Some(found) if found.contains(city) => Ok(()),
        _ => Err(format!("`{}` does not name the city {city}", shown(&value.to_string()))),
    }
}

fn shown(text: &str) -> String {
    let text = text.trim();
    if text.chars().count() > SHOWN { text.chars().take(SHOWN).chain(['…']).collect() } else { text.to_owned() }
}
