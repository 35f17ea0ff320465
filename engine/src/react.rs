//! Agents that call tools in text: Thought, Action, Action Input, Observation (Yao et al. 2023).

use std::fmt::Write;

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
pub fn instructions(functions: &[Value]) -> String {
    let mut out = format!("\n\n{}\n", include_str!("prompts/react.md").trim_end());
    for function in functions.iter().map(|f| &f["function"]) {
        let (name, description) = (text(&function["name"]), text(&function["description"]));
        let _ = writeln!(out, "- {name}: {description} Arguments (JSON Schema): {}", function["parameters"]);
    }
    out
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// # Errors
/// What is wrong with the form, for the model that is asked again.
pub fn parse(reply: &str) -> Result<Turn, String> {
    // Models run on and invent the observation themselves; what follows it is not theirs to say.
    let own = reply.split("\nObservation:").next().unwrap_or_default();
    let thought = section(own, "Thought:", &["\nAction:", "\nFinal Answer:"]);
    if let Some(said) = own.split_once("Final Answer:").map(|(_, said)| said.trim()) {
        return if said.is_empty() {
            Err("`Final Answer:` is empty".into())
        } else {
            Ok(Turn { thought, step: Step::Say(said.into()) })
        };
    }
    let Some(tool) = section(own, "Action:", &["\nAction Input:"]) else {
        return Err("neither `Action:` with `Action Input:` nor `Final Answer:` was found".into());
    };
    let input = section(own, "Action Input:", &[]).unwrap_or_default();
    let arguments = input.trim_start_matches("```json").trim_matches('`').trim().to_owned();
    Ok(Turn { thought, step: Step::Call { tool: tool.trim_matches('`').to_owned(), arguments } })
}

fn section(text: &str, label: &str, ends: &[&str]) -> Option<String> {
    let (_, rest) = text.split_once(label)?;
    let end = ends.iter().filter_map(|e| rest.find(e)).min().unwrap_or(rest.len());
    let found = rest[..end].trim();
    (!found.is_empty()).then(|| found.to_owned())
}

/// The conversation as the agent wrote and read it.
pub fn history(messages: &[Message]) -> Vec<Message> {
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
                push(said(reasoning_content.as_deref(), content, tool_calls.first()));
            }
            Message::Tool { content, .. } => push(Message::User { content: format!("Observation: {content}") }),
            other => push(other.clone()),
        }
    }
    out
}

fn said(thought: Option<&str>, words: &str, call: Option<&ToolCall>) -> Message {
    Message::Assistant { content: write(thought, words, call), reasoning_content: None, tool_calls: Vec::new() }
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
        assert!(parse("Sure, let me see.").is_err());
        assert!(parse("Final Answer:").is_err());
    }
}
