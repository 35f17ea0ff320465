//! The `scripted` model: plays every role from the scenario's script and the playbook's templates.
//!
//! It is no language model and never pretends to be one. It proves scenarios solvable, lets everything run without a
//! key, and is what tests and benchmarks play with. It is pure: the same conversation gives the same reply.

use std::collections::BTreeSet;

use domain::event::Answer;
use domain::message::{Message, ToolCall};
use domain::persona::Complexity;
use domain::playbook::AgentStyle;
use domain::role::Role;
use domain::scenario::{Line, ScriptCall, ScriptStep};
use domain::verdict::{Rule, Verification};
use serde_json::{Map, Value, json};

use crate::case::Case;
use crate::chat::{Ask, ChatReply};
use crate::conversation::{Call, Conversation};
use crate::react;
use crate::templates;
use crate::tools::code::fresh_id;

/// How `scripted` is named wherever models are named.
pub const NAME: &str = "scripted";

/// # Errors
/// A template of the scenario or the playbook that does not render.
pub fn reply(ask: &Ask, conversation: &Conversation) -> Result<ChatReply, String> {
    match ask.role {
        Role::SimulatedUser => Ok(said(user_line(conversation))),
        Role::Agent => agent_turn(conversation),
        Role::ToolSimulator => tool_response(conversation).map(said),
        Role::StateManager => patch(conversation).map(said),
        Role::Judge => Ok(said(verdict(conversation).to_string())),
    }
}

fn said(content: String) -> ChatReply {
    ChatReply { content, ..ChatReply::default() }
}

/// The script as it is played: a vague opening is followed by a question back and the plain opening; agents that call
/// in text make one call at a time.
fn steps(case: &Case) -> Vec<ScriptStep> {
    let mut steps = Vec::new();
    for (i, step) in case.scenario.script.iter().enumerate() {
        let vague = case.complexity == Complexity::Vague && i == 0;
        match &step.user {
            Some(line) if vague && line.has(Complexity::Vague) => {
                let plain = Line::Text(line.at(Complexity::Medium).to_owned());
                steps.push(step.clone());
                steps.push(ScriptStep {
                    agent: Some(case.playbook.spec.clarification.clone()),
                    ..ScriptStep::default()
                });
                steps.push(ScriptStep { user: Some(plain), ..ScriptStep::default() });
            }
            None if case.agent_style == AgentStyle::React && step.calls.len() > 1 => {
                let one = |call: &ScriptCall| ScriptStep { calls: vec![call.clone()], ..step.clone() };
                steps.extend(step.calls.iter().map(one));
            }
            _ => steps.push(step.clone()),
        }
    }
    steps
}

fn user_line(conversation: &Conversation) -> String {
    let case = conversation.case();
    let steps = steps(case);
    let mut lines = steps.iter().filter_map(|s| s.user.as_ref());
    match lines.nth(conversation.state().user_turns as usize) {
        Some(line) => line.at(case.complexity).to_owned(),
        None => crate::conversation::END.to_owned(),
    }
}

fn agent_turn(conversation: &Conversation) -> Result<ChatReply, String> {
    let case = conversation.case();
    let steps = steps(case);
    if let Some(again) = calls_to_repeat(conversation) {
        let reasoning = Some("The call met a fault of the backend, so I make it again.".to_owned());
        return Ok(written(case, String::new(), reasoning, again));
    }
    // Each turn whose calls met a fault was followed by one that repeated them.
    let turns = conversation.state().agent_turns as usize - faulty_turns(conversation).len();
    let Some(step) = steps.iter().filter(|s| s.user.is_none()).nth(turns) else {
        return Ok(written(case, "Is there anything else I can help you with?".to_owned(), None, Vec::new()));
    };
    let context = script_context(conversation);
    let content = match &step.agent {
        Some(line) => render(line, &context)?,
        None => String::new(),
    };
    let calls = step.calls.iter().map(|call| tool_call(call, &context)).collect::<Result<_, _>>()?;
    Ok(written(case, content, step.reasoning.clone(), calls))
}

/// Turns with calls that are worth repeating: nothing was done, or nothing that must not be done twice.
fn faulty_turns(conversation: &Conversation) -> BTreeSet<u32> {
    let repeatable = |call: &&Call| {
        let reads = || conversation.case().playbook.tool(&call.tool).is_some_and(|tool| tool.writes.is_empty());
        call.fault.is_some_and(|fault| fault.is_refusal() || (fault.is_visible() && reads()))
    };
    conversation.state().calls.iter().filter(repeatable).map(|call| call.turn).collect()
}

fn calls_to_repeat(conversation: &Conversation) -> Option<Vec<ToolCall>> {
    let turn = conversation.state().agent_turns;
    if !faulty_turns(conversation).contains(&turn) {
        return None;
    }
    let faulty = conversation.state().calls.iter().filter(|call| call.turn == turn && call.fault.is_some());
    Some(faulty.map(|call| ToolCall::new(String::new(), call.tool.clone(), call.arguments.clone())).collect())
}

/// A turn in the form that the agent's style asks for.
fn written(case: &Case, content: String, reasoning: Option<String>, tool_calls: Vec<ToolCall>) -> ChatReply {
    if case.agent_style == AgentStyle::FunctionCalling {
        return ChatReply { content, reasoning, tool_calls, ..ChatReply::default() };
    }
    said(react::write(reasoning.as_deref(), &content, tool_calls.first()))
}

fn tool_call(call: &ScriptCall, context: &Value) -> Result<ToolCall, String> {
    let mut arguments = Map::new();
    for (name, value) in &call.args {
        arguments.insert(name.clone(), rendered(value, context)?);
    }
    Ok(ToolCall::new(String::new(), call.tool.clone(), Value::Object(arguments).to_string()))
}

fn rendered(value: &Value, context: &Value) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) if text.contains("{{") => render(text, context)?.into(),
        Value::Array(items) => items.iter().map(|v| rendered(v, context)).collect::<Result<_, _>>()?,
        Value::Object(map) => {
            let fields = map.iter().map(|(k, v)| Ok((k.clone(), rendered(v, context)?)));
            Value::Object(fields.collect::<Result<_, String>>()?)
        }
        other => other.clone(),
    })
}

/// What lines of the script see: `calls.<tool>`, the last answer of each tool, and `facts`.
fn script_context(conversation: &Conversation) -> Value {
    let mut calls = Map::new();
    for call in conversation.state().calls.iter().filter(|c| c.answer == Answer::Succeeded) {
        let answer = serde_json::from_str(&call.content).unwrap_or_else(|_| call.content.clone().into());
        calls.insert(call.tool.clone(), answer);
    }
    let facts: Map<String, Value> =
        conversation.case().scenario.user_knowledge().map(|(k, v)| (k.clone(), v.clone())).collect();
    json!({"calls": calls, "facts": facts})
}

fn render(template: &str, context: &Value) -> Result<String, String> {
    templates::render_text(template, context)
}

fn tool_response(conversation: &Conversation) -> Result<String, String> {
    let (tool, arguments) = pending(conversation)?;
    let Some(template) = &tool.spec.scripted else {
        return Err(format!("tool `{}` has no `scripted` template", tool.spec.name));
    };
    let view = conversation.view(tool, &arguments);
    let now = conversation.case().now();
    let context = json!({"view": view, "arguments": arguments, "tool": tool.spec.name, "now": now});
    templates::render(&conversation.case().playbook.templates, template, &context)
}

fn patch(conversation: &Conversation) -> Result<String, String> {
    let (tool, arguments) = pending(conversation)?;
    let Some(template) = &tool.spec.scripted_patch else { return Ok(json!({"patch": []}).to_string()) };
    let crate::conversation::Phase::Write { response } = &conversation.state().phase else {
        return Err("no change is asked for".into());
    };
    let id = fresh_id(&conversation.id_seed(), &tool.spec.name, 0);
    let view = conversation.view(tool, &arguments);
    let context = json!({"view": view, "arguments": arguments, "response": response, "fresh_id": id, "now": conversation.case().now()});
    let patch = templates::render(&conversation.case().playbook.templates, template, &context)?;
    Ok(format!("{{\"patch\": {patch}}}"))
}

fn pending(conversation: &Conversation) -> Result<(&crate::playbook::Tool, Map<String, Value>), String> {
    let call = conversation.state().pending.front().ok_or("no call is waiting")?;
    let tool = conversation.case().playbook.tool(call.name()).ok_or("no such tool")?;
    let arguments = call.arguments().ok().and_then(|v| v.as_object().cloned()).unwrap_or_default();
    Ok((tool, arguments))
}

/// The verifier's findings in the form of a verdict.
fn verdict(conversation: &Conversation) -> Value {
    let empty = Verification::default();
    let verification = conversation.state().verification.as_ref().unwrap_or(&empty);
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
