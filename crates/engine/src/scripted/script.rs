//! Users and agents from the script of a scenario.
//!
//! The script names the calls that solve the case, not who makes them: an agent that has not the tool of a call leaves
//! it to the sub-agent that has, so one script plays with every variant of a playbook.

use std::borrow::Cow;
use std::collections::BTreeSet;

use domain::message::{Message, ToolCall};
use domain::persona::Complexity;
use domain::playbook::{AgentStyle, UserStyle};
use domain::scenario::{Line, ScriptCall, ScriptStep};
use domain::transcript::{Call, Frame};
use serde_json::{Map, Value, json};

use super::context::Context;
use super::said;
use crate::case::Case;
use crate::conversation::{Conversation, END};
use crate::playbook::Agent;
use crate::{json_turn, react, user_gate};
use domain::chat::ChatReply;

/// The script as it is played: a vague opening is followed by a question back and the plain opening; agents that call
/// in text make one call at a time.
fn steps(case: &Case) -> Vec<Cow<'_, ScriptStep>> {
    let mut steps = Vec::with_capacity(case.scenario.script.len() + 2);
    for (i, step) in case.scenario.script.iter().enumerate() {
        let vague = case.complexity == Complexity::Vague && i == 0;
        match &step.user {
            Some(line) if vague && line.has(Complexity::Vague) => {
                let plain = Line::Text(line.at(Complexity::Medium).to_owned());
                steps.push(Cow::Borrowed(step));
                steps.push(Cow::Owned(ScriptStep {
                    agent: Some(case.playbook.spec.clarification.clone()),
                    ..ScriptStep::default()
                }));
                steps.push(Cow::Owned(ScriptStep { user: Some(plain), ..ScriptStep::default() }));
            }
            None if case.agent_style != AgentStyle::FunctionCalling && step.calls.len() > 1 => {
                let one = |call: &ScriptCall| ScriptStep { calls: vec![call.clone()], ..step.clone() };
                steps.extend(step.calls.iter().map(one).map(Cow::Owned));
            }
            _ => steps.push(Cow::Borrowed(step)),
        }
    }
    steps
}

const fn is_users(step: &ScriptStep) -> bool {
    step.user.is_some() || !step.user_calls.is_empty()
}

pub(super) fn user_turn(conversation: &Conversation) -> Result<ChatReply, String> {
    let (case, state) = (conversation.case(), conversation.state());
    if user_gate::has_had_enough(case, state) {
        return Ok(users(case, "This takes too long for me.", true));
    }
    let steps = steps(case);
    let Some(step) = steps.iter().filter(|s| is_users(s)).nth(state.transcript.user.turns as usize) else {
        return Ok(users(case, "", true));
    };
    let context = Context::of(conversation);
    let possible = step.user_calls.iter().filter(|call| !needs_missing_answer(conversation, call));
    let calls: Vec<ToolCall> = possible.map(|call| tool_call(call, &context)).collect::<Result<_, _>>()?;
    let content = step.user.as_ref().map(|line| line.at(case.complexity)).unwrap_or_default();
    let is_over = calls.is_empty() && !step.user_calls.is_empty() && content.is_empty();
    Ok(ChatReply { tool_calls: calls, ..users(case, content, is_over) })
}

/// Whether a call of the user refers to the answer of a tool that the agent has not called. Such a call is left out, and a user who
/// then has nothing to do or say leaves.
fn needs_missing_answer(conversation: &Conversation, call: &ScriptCall) -> bool {
    let made = |tool: &str| {
        conversation.state().transcript.calls.iter().any(|call| call.tool == tool && call.answer.succeeded())
    };
    let is_missing = |text: &str| {
        text.split("calls.").skip(1).any(|rest| {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let tool = &rest[..end];
            conversation.case().playbook.tool(tool).is_some() && !made(tool)
        })
    };
    call.args.values().any(|value| has_text(value, &is_missing))
}

fn has_text(value: &Value, is_meant: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is_meant(text),
        Value::Array(items) => items.iter().any(|item| has_text(item, is_meant)),
        Value::Object(map) => map.values().any(|item| has_text(item, is_meant)),
        _ => false,
    }
}

/// A user's turn in the form that the style asks for.
fn users(case: &Case, words: &str, ended: bool) -> ChatReply {
    said(match case.user_style {
        UserStyle::Json => json_turn::write_user(words, ended),
        UserStyle::Text if ended => format!("{words} {END}").trim().to_owned(),
        UserStyle::Text => words.to_owned(),
    })
}

pub(super) fn agent_turn(conversation: &Conversation) -> Result<ChatReply, String> {
    let (case, frame) = (conversation.case(), conversation.state().acting());
    if let Some(again) = calls_to_repeat(conversation, frame) {
        let reasoning = Some("The call met a fault of the backend, so I make it again.".to_owned());
        return Ok(written(case, String::new(), reasoning, again));
    }
    let agents = &conversation.state().transcript.agents;
    let step = current_step(conversation);
    if agents.len() > 1 {
        return sub_agent_turn(conversation, frame, step.as_deref());
    }
    let Some(step) = step else {
        return Ok(written(case, "Is there anything else I can help you with?".to_owned(), None, Vec::new()));
    };
    let content = match &step.agent {
        Some(line) => Context::of(conversation).line(line)?,
        None => String::new(),
    };
    let agent = case.playbook.agent(case.variant.as_deref());
    let calls = delegated(case, agent, rendered_calls(conversation, &step)?);
    Ok(written(case, content, step.reasoning.clone(), calls))
}

/// The step of the script that the agent under test is at, or whose calls its sub-agents are making.
fn current_step(conversation: &Conversation) -> Option<Cow<'_, ScriptStep>> {
    let trunk = conversation.state().agent();
    // Each turn whose calls met a fault was followed by one that repeated them.
    let turns = (trunk.turns as usize).saturating_sub(faulty_turns(conversation, trunk).len());
    let at_work = usize::from(conversation.state().transcript.agents.len() > 1);
    steps(conversation.case()).into_iter().filter(|s| !is_users(s)).nth(turns.saturating_sub(at_work))
}

/// A sub-agent makes the calls of the step that lead through it, and then reports what it was answered.
fn sub_agent_turn(conversation: &Conversation, frame: &Frame, step: Option<&ScriptStep>) -> Result<ChatReply, String> {
    let case = conversation.case();
    let mut calls = step.map(|step| rendered_calls(conversation, step)).transpose()?.unwrap_or_default();
    let mut agent = case.playbook.agent(case.variant.as_deref());
    for frame in &conversation.state().transcript.agents {
        if let Some(name) = frame.caller.sub_agent() {
            calls.retain(|call| case.playbook.route(agent, call.name()) == Some(name));
            agent = case.playbook.sub_agent(name).ok_or("no such sub-agent")?;
        }
    }
    let calls = delegated(case, agent, calls);
    let done = (frame.turns as usize).saturating_sub(faulty_turns(conversation, frame).len());
    let turn: Vec<ToolCall> = match case.agent_style {
        AgentStyle::FunctionCalling if done == 0 => calls,
        AgentStyle::FunctionCalling => Vec::new(),
        AgentStyle::React | AgentStyle::Json => calls.into_iter().skip(done).take(1).collect(),
    };
    if turn.is_empty() {
        return Ok(written(case, report(frame), None, turn));
    }
    Ok(written(case, String::new(), step.and_then(|step| step.reasoning.clone()), turn))
}

/// What the sub-agent was answered, call by call.
fn report(frame: &Frame) -> String {
    let asked = frame.messages.iter().flat_map(|message| match message {
        Message::Assistant { tool_calls, .. } => tool_calls.as_slice(),
        _ => &[],
    });
    let lines = asked.filter_map(|call| {
        let answer = frame.messages.iter().find_map(|message| match message {
            Message::Tool { tool_call_id, content } if *tool_call_id == call.id => Some(content),
            _ => None,
        });
        answer.map(|answer| format!("- {}: {answer}", call.name()))
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() { "There was nothing to do.".to_owned() } else { format!("Done.\n{}", lines.join("\n")) }
}

/// Calls as an agent makes them: its own as they are, the others as tasks for its sub-agents.
fn delegated(case: &Case, agent: Agent<'_>, calls: Vec<ToolCall>) -> Vec<ToolCall> {
    let mut made: Vec<ToolCall> = Vec::new();
    for call in calls {
        let Some(through) = case.playbook.route(agent, call.name()).filter(|name| *name != call.name()) else {
            made.push(call);
            continue;
        };
        let task = format!("Call {} with {}.", call.name(), call.function.arguments);
        let same = made.iter_mut().find(|made| made.name() == through);
        let tasks = same.as_ref().and_then(|made| made.arguments().ok()?.get("task")?.as_str().map(str::to_owned));
        let task = tasks.map_or(task.clone(), |before| format!("{before} {task}"));
        let delegation = ToolCall::new(String::new(), through.to_owned(), json!({"task": task}).to_string());
        match same {
            Some(before) => *before = delegation,
            None => made.push(delegation),
        }
    }
    made
}

/// Turns with calls that are worth repeating: nothing was done, or nothing that must not be done twice.
fn faulty_turns(conversation: &Conversation, frame: &Frame) -> BTreeSet<u32> {
    let repeatable = |call: &&Call| {
        let reads = || conversation.case().playbook.tool(&call.tool).is_some_and(|tool| tool.spec.writes.is_empty());
        call.caller == frame.caller
            && call.fault.is_some_and(|fault| fault.is_refusal() || (fault.is_visible() && reads()))
    };
    conversation.state().transcript.calls.iter().filter(repeatable).map(|call| call.turn).collect()
}

fn calls_to_repeat(conversation: &Conversation, frame: &Frame) -> Option<Vec<ToolCall>> {
    if !faulty_turns(conversation, frame).contains(&frame.turns) {
        return None;
    }
    let calls = conversation.state().transcript.calls.iter();
    let faulty = calls.filter(|call| call.caller == frame.caller && call.turn == frame.turns && call.fault.is_some());
    Some(faulty.map(|call| ToolCall::new(String::new(), call.tool.clone(), call.arguments.clone())).collect())
}

/// A turn in the form that the agent's style asks for.
fn written(case: &Case, content: String, reasoning: Option<String>, tool_calls: Vec<ToolCall>) -> ChatReply {
    let write: react::TurnFormat = match case.agent_style {
        AgentStyle::FunctionCalling => return ChatReply { content, reasoning, tool_calls, ..ChatReply::default() },
        AgentStyle::React => react::write,
        AgentStyle::Json => json_turn::write,
    };
    said(write(reasoning.as_deref(), &content, tool_calls.first()))
}

fn rendered_calls(conversation: &Conversation, step: &ScriptStep) -> Result<Vec<ToolCall>, String> {
    let context = Context::of(conversation);
    step.calls.iter().map(|call| tool_call(call, &context)).collect()
}

fn tool_call(call: &ScriptCall, context: &Context<'_>) -> Result<ToolCall, String> {
    let mut arguments = Map::new();
    for (name, value) in &call.args {
        arguments.insert(name.clone(), rendered(value, context)?);
    }
    Ok(ToolCall::new(String::new(), call.tool.clone(), Value::Object(arguments).to_string()))
}

fn rendered(value: &Value, context: &Context<'_>) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) if text.contains("{{") => context.line(text)?.into(),
        Value::Array(items) => items.iter().map(|v| rendered(v, context)).collect::<Result<_, _>>()?,
        Value::Object(map) => {
            let fields = map.iter().map(|(k, v)| Ok((k.clone(), rendered(v, context)?)));
            Value::Object(fields.collect::<Result<_, String>>()?)
        }
        other => other.clone(),
    })
}
