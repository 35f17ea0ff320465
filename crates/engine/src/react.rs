//! Agents that call tools in text: Thought, Action, Action Input, Observation (Yao et al. 2023).

use std::fmt::Write;
use std::sync::Arc;

use domain::message::{Message, ToolCall};
use serde_json::Value;

/// What a `ReAct` reply means.
#[derive(Debug, PartialEq, Eq)]
pub struct Turn {
    pub thought: Option<String>,
    pub step: Step,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    Say(String),
    Call { tool: String, arguments: String },
}

/// How the agent is told to write; follows its system prompt.
pub fn instructions(functions: &[Arc<Value>]) -> String {
    format!("\n\n{}\n{}", include_str!("prompts/react.md").trim_end(), listed(functions))
}

/// The tools, a line each.
pub(crate) fn listed(functions: &[Arc<Value>]) -> String {
    let mut out = String::new();
    for function in functions.iter().map(|f| &f["function"]) {
        let (name, description) = (text(&function["name"]), text(&function["description"]));
        let _ = writeln!(out, "- {name}: {description} Arguments (JSON Schema): {}", function["parameters"]);
    }
    out
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The parts of a reply, each under a label at the start of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Thought,
    Action,
    Input,
    Observation,
    Answer,
}

const LABELS: [(&str, Label); 5] = [
    ("Thought:", Label::Thought),
    ("Action:", Label::Action),
    ("Action Input:", Label::Input),
    ("Observation:", Label::Observation),
    ("Final Answer:", Label::Answer),
];

/// # Errors
/// What is wrong with the form, for the model that is asked again.
pub fn parse(reply: &str) -> Result<Turn, String> {
    let sections = sections(reply);
    let first = |label: Label| sections.iter().position(|(found, _)| *found == label);
    let thought = match sections.first() {
        Some((Label::Thought, text)) if !text.is_empty() => Some(text.clone()),
        _ => None,
    };
    match (first(Label::Action), first(Label::Answer)) {
        // Models run on and invent the observation and the answer themselves: the turn ends with its first action.
        (Some(action), answer) if answer.is_none_or(|answer| action < answer) => call(&sections[action..], thought),
        (_, Some(answer)) => match sections[answer].1.as_str() {
            "" => Err("`Final Answer:` is empty".into()),
            said => Ok(Turn { thought, step: Step::Say(said.to_owned()) }),
        },
        _ => Err("neither `Action:` with `Action Input:` nor `Final Answer:` was found".into()),
    }
}

fn call(sections: &[(Label, String)], thought: Option<String>) -> Result<Turn, String> {
    let [(_, tool), (Label::Input, input), ..] = sections else {
        return Err("`Action:` is not followed by `Action Input:`".into());
    };
    let tool = tool.trim_matches('`').to_owned();
    if tool.is_empty() || tool.contains(char::is_whitespace) {
        return Err("`Action:` must be the name of one tool".into());
    }
    let arguments = input.trim_start_matches("```json").trim_matches('`').trim().to_owned();
    Ok(Turn { thought, step: Step::Call { tool, arguments } })
}

/// What follows an observation is not the agent's to say. An answer is kept whole, labels and all.
fn sections(reply: &str) -> Vec<(Label, String)> {
    let mut sections: Vec<(Label, String)> = Vec::new();
    for line in reply.lines() {
        let label = LABELS.iter().find_map(|(text, label)| Some((*label, line.trim_start().strip_prefix(text)?)));
        match (label, sections.last_mut()) {
            (Some((Label::Observation, _)), _) => break,
            (Some((label, rest)), before) if before.as_ref().is_none_or(|(kind, _)| *kind != Label::Answer) => {
                sections.push((label, rest.to_owned()));
            }
            (_, Some((_, text))) => *text = format!("{text}\n{line}"),
            (_, None) => {}
        }
    }
    sections.into_iter().map(|(label, text)| (label, text.trim().to_owned())).collect()
}

/// How a turn is written: what was thought, what is said, and the call in its place.
pub type TurnFormat = fn(Option<&str>, &str, Option<&ToolCall>) -> String;

/// The conversation as the agent wrote and read it.
pub fn history(messages: &[Message], written: TurnFormat) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::new();
    let mut push = |message: Message| match (out.last_mut(), message) {
        (Some(Message::User { content: before }), Message::User { content }) => {
            *before = format!("{before}\n{content}");
        }
        (_, message) => out.push(message),
    };
    for message in messages {
        match message {
            Message::Assistant { content, reasoning_content, tool_calls } => {
                let content = written(reasoning_content.as_deref(), content, tool_calls.first());
                push(Message::Assistant { content, reasoning_content: None, tool_calls: Vec::new() });
            }
            Message::Tool { content, .. } => push(Message::User { content: format!("Observation: {content}") }),
            other => push(other.clone()),
        }
    }
    out
}

/// A turn as a `ReAct` agent writes it.
pub fn write(thought: Option<&str>, words: &str, call: Option<&ToolCall>) -> String {
    let thought = thought.map(|text| format!("Thought: {text}\n")).unwrap_or_default();
    match call {
        Some(call) => format!("{thought}Action: {}\nAction Input: {}", call.name(), call.function.arguments),
        None => format!("{thought}Final Answer: {words}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_as_they_come() {
        let call = parse(
            "Thought: I need the account.\nAction: get_account\nAction Input: {\"id\": 1}\nObservation: invented",
        )
        .expect("a call");
        assert_eq!(call.thought.as_deref(), Some("I need the account."));
        assert_eq!(call.step, Step::Call { tool: "get_account".into(), arguments: "{\"id\": 1}".into() });
        let said = parse("Thought: done\nFinal Answer: It is 5.\nBye.").expect("an answer");
        assert_eq!(said.step, Step::Say("It is 5.\nBye.".into()));
        let fenced = parse("Action: `x`\nAction Input: ```json\n{}\n```").expect("a call");
        assert_eq!(fenced.step, Step::Call { tool: "x".into(), arguments: "{}".into() });
        let run_on = parse("Thought: t\nAction: refund\nAction Input: {\"a\": 1}\nFinal Answer: Done, refunded.");
        assert_eq!(run_on.expect("a call").step, Step::Call { tool: "refund".into(), arguments: "{\"a\": 1}".into() });
        let quoted = parse("Thought: no Final Answer: yet\nAction: x\nAction Input: {\"say\": \"Final Answer: no\"}");
        assert!(matches!(quoted.expect("a call").step, Step::Call { .. }));
        let lists = parse("Final Answer: Two things:\nAction: none is needed.").expect("an answer");
        assert_eq!(lists.step, Step::Say("Two things:\nAction: none is needed.".into()));
        assert!(parse("Action: refund").is_err());
        assert!(parse("Action: I will refund it\nAction Input: {}").is_err());
        assert!(parse("Sure, let me see.").is_err());
        assert!(parse("Final Answer:").is_err());
    }
}
