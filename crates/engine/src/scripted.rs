//! The `scripted` model: plays every role from the scenario's script and the playbook's templates.
//!
//! It is no language model and never pretends to be one. It proves scenarios solvable, lets everything run without a
//! key, and is what tests and benchmarks play with. It is pure: the same conversation gives the same reply.

mod context;
mod script;

use domain::message::Message;
use domain::role::Role;
use domain::verdict::{Rule, Verification};
use serde_json::{Map, Value, json};

use crate::conversation::Conversation;
use crate::playbook::Tool;
use crate::templates;
use domain::chat::ChatReply;

/// How `scripted` is named wherever models are named.
pub const NAME: &str = "scripted";

/// # Errors
/// A template of the scenario or the playbook that does not render.
pub fn reply(role: Role, conversation: &Conversation) -> Result<ChatReply, String> {
    match role {
        Role::SimulatedUser => script::user_turn(conversation),
        Role::Agent => script::agent_turn(conversation),
        Role::ToolSimulator => tool_response(conversation).map(said),
        Role::StateManager => patch(conversation).map(said),
        Role::Judge => Ok(said(verdict(conversation).to_string())),
    }
}

fn said(content: String) -> ChatReply {
    ChatReply { content, ..ChatReply::default() }
}

fn tool_response(conversation: &Conversation) -> Result<String, String> {
    let (tool, arguments) = pending(conversation)?;
    let Some(template) = &tool.spec.scripted else {
        return Err(format!("tool `{}` has no `scripted` template", tool.spec.name));
    };
    let view = conversation.view(tool, &arguments);
    let now = conversation.case().now();
    let id = new_id(conversation, tool);
    let context = json!({"view": view, "arguments": arguments, "tool": tool.spec.name, "fresh_id": id, "now": now});
    templates::render(&conversation.case().playbook.templates, template, &context)
}

fn patch(conversation: &Conversation) -> Result<String, String> {
    let (tool, arguments) = pending(conversation)?;
    let Some(template) = &tool.spec.scripted_patch else { return Ok(json!({"patch": []}).to_string()) };
    let crate::conversation_state::Phase::Write { response } = &conversation.state().phase else {
        return Err("no change is asked for".into());
    };
    let view = conversation.view(tool, &arguments);
    let context = json!({
        "view": view, "arguments": arguments, "response": response, "fresh_id": new_id(conversation, tool),
        "now": conversation.case().now(),
    });
    let patch = templates::render(&conversation.case().playbook.templates, template, &context)?;
    Ok(format!("{{\"patch\": {patch}}}"))
}

/// The first of the ids that the call may give to new records.
fn new_id(conversation: &Conversation, tool: &Tool) -> String {
    conversation.offered_ids(tool).swap_remove(0)
}

fn pending(conversation: &Conversation) -> Result<(&Tool, Map<String, Value>), String> {
    let call = conversation.state().acting().pending.front().ok_or("no call is waiting")?;
    let tool = conversation.case().playbook.tool(call.name()).ok_or("no such tool")?;
    let arguments = call.arguments().ok().and_then(|v| v.as_object().cloned()).unwrap_or_default();
    Ok((tool, arguments))
}

/// The verifier's findings in the form of a verdict.
fn verdict(conversation: &Conversation) -> Value {
    let empty = Verification::default();
    let verification = conversation.state().transcript.verification.as_ref().unwrap_or(&empty);
    let passed = verification.passed();
    let why = match verification.failures().next() {
        None => format!("scripted: no model judged this; all {} items of the verifier hold", verification.items.len()),
        Some(check) => format!("scripted: no model judged this; the verifier found: {}", check.detail),
    };
    let scores: Vec<Value> = conversation
        .case()
        .judge
        .spec
        .criteria
        .iter()
        .map(|c| json!({"criterion": c.name, "score": score(&c.name, verification, conversation), "rationale": why}))
        .collect();
    json!({"scores": scores, "overall": if passed { 9 } else { 3 }, "rationale": why, "goal_achieved": passed})
}

/// A criterion is good unless the verifier found something that bears on it.
fn score(criterion: &str, verification: &Verification, conversation: &Conversation) -> u8 {
    let failed = |rules: &[Rule]| verification.failures().any(|c| rules.contains(&c.rule));
    let bad = match criterion {
        "tool_usage" => failed(&[Rule::ExpectedAction, Rule::ForbiddenAction, Rule::ValidCalls]),
        "tool_call_hallucination" => failed(&[Rule::ValidCalls]),
        "communication_quality" => failed(&[Rule::FactTold, Rule::Ending]),
        "error_handling" => failed(&[Rule::Recovery]),
        "reasoning_quality" | "reasoning_hallucination" | "consistency" => false,
        _ => !verification.passed(),
    };
    // Reasoning that is not there cannot be better than passable.
    let silent = criterion == "reasoning_quality"
        && !conversation
            .state()
            .agent()
            .messages
            .iter()
            .any(|m| matches!(m, Message::Assistant { reasoning_content: Some(_), .. }));
    if bad {
        3
    } else if silent {
        6
    } else {
        9
    }
}
