//! The rules of a playbook's policy that a program can decide, over all that was said and done.

use domain::message::Message;
use domain::transcript::{Call, Caller};
use domain::verdict::{Check, Rule, Verification};
use serde_json::Value;

use super::check;
use crate::case::Case;
use crate::conversation_state::State;
use crate::playbook::policy_rule;
use crate::tools::code::{CodeError, TOO_MANY_STEPS};

const UNDECIDED: &str = " cannot be decided: ";

/// Rules that are broken themselves, and why.
pub fn undecided(verification: &Verification) -> impl Iterator<Item = &str> {
    let rules = verification.failures().filter(|item| item.rule == Rule::Policy);
    rules.map(|item| item.detail.as_str()).filter(|detail| detail.contains(UNDECIDED))
}

pub fn verify(case: &Case, state: &State) -> Vec<Check> {
    let rules = &case.playbook.spec.policy_rules;
    if rules.is_empty() {
        return Vec::new();
    }
    let log = log(case, state);
    let (now, code) = (case.now(), &case.playbook.code);
    let kept = |i| code.was_kept(&policy_rule(i), &state.world, &case.initial.world, &log, &now);
    let judged = rules.iter().enumerate().map(|(i, rule)| match kept(i) {
        Ok(kept) => {
            let detail = if kept { rule.name.clone() } else { format!("{}: {}", rule.name, rule.message) };
            Check { rule: Rule::Policy, passed: kept, detail }
        }
        // A rule that its author's own scenarios do not use up: so much was said and done by the agent.
        Err(CodeError::Broken(why)) if why.contains(TOO_MANY_STEPS) => {
            check(Rule::Policy, false, &rule.name, &format!("cannot be looked at in all that was said and done: {why}"))
        }
        Err(broken) => Check { rule: Rule::Policy, passed: false, detail: format!("{}{UNDECIDED}{broken}", rule.name) },
    });
    judged.collect()
}

/// All that was said between user and agent and all calls, in their order: `kind` is `user`, `agent` or `call`; the
/// first two have `text`, a call has `tool`, `args`, `ok`, `answer` and `by` (`agent`, `user`, or the sub-agent's name).
fn log(case: &Case, state: &State) -> Value {
    let called = |call| called(case, call);
    let mut entries = Vec::new();
    let mut calls = state.transcript.calls.iter().peekable();
    for message in &state.agent().messages {
        match message {
            Message::System { .. } => {}
            Message::User { content } => {
                // Up to these words, what the user did with its own tools.
                while let Some(call) = calls.next_if(|call| call.caller == Caller::User) {
                    entries.push(called(call));
                }
                entries.push(said("user", content));
            }
            Message::Assistant { content, .. } if content.is_empty() => {}
            Message::Assistant { content, .. } => entries.push(said("agent", content)),
            // Before the answer of a sub-agent, what that one called.
            Message::Tool { tool_call_id, .. } => {
                for call in calls.by_ref() {
                    entries.push(called(call));
                    if call.id == *tool_call_id {
                        break;
                    }
                }
            }
        }
    }
    entries.extend(calls.map(called));
    Value::Array(entries)
}

fn said(kind: &str, text: &str) -> Value {
    entry([("kind", kind.into()), ("text", text.into())])
}

fn entry<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// A call with its arguments as the tool got them, so with the defaults of those that were left out.
fn called(case: &Case, call: &Call) -> Value {
    let by = match &call.caller {
        Caller::Agent => "agent",
        Caller::User => "user",
        Caller::SubAgent { name, .. } => name,
    };
    let args = Value::Object(case.playbook.arguments_of(call));
    let answer = serde_json::from_str(&call.content).unwrap_or_else(|_| Value::String(call.content.clone()));
    entry([
        ("kind", "call".into()),
        ("tool", call.tool.as_str().into()),
        ("args", args),
        ("ok", call.answer.succeeded().into()),
        ("answer", answer),
        ("by", by.into()),
    ])
}
