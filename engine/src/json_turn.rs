//! Turns as one JSON object each. Endpoints that hold replies to a schema let also a small model make calls that can be read.

use std::sync::Arc;

use domain::message::ToolCall;
use serde_json::{Value, json};

use crate::chat::{ChatReply, ReplySchema};
use crate::react::{self, Step, Turn};

/// With the space behind it, and generously: only the gate counts words.
const LETTERS_OF_A_WORD: u32 = 10;

/// How the agent is told to write; follows its system prompt.
pub fn instructions(functions: &[Arc<Value>]) -> String {
    format!("\n\n{}\n{}", include_str!("prompts/json.md").trim_end(), react::listed(functions))
}

/// A call of one of the tools with arguments that it takes, or words.
pub fn schema(functions: &[Arc<Value>]) -> ReplySchema {
    let call = |function: &Value| {
        json!({
            "type": "object", "required": ["thought", "tool", "arguments"], "additionalProperties": false,
            "properties": {
                "thought": {"type": "string"}, "tool": {"const": function["name"]}, "arguments": function["parameters"],
            },
        })
    };
    let words = json!({
        "type": "object", "required": ["thought", "say"], "additionalProperties": false,
        "properties": {"thought": {"type": "string"}, "say": {"type": "string", "minLength": 1}},
    });
    let forms: Vec<Value> = functions.iter().map(|f| call(&f["function"])).chain([words]).collect();
    ReplySchema { name: "turn".into(), schema: json!({"anyOf": forms}) }
}

/// # Errors
/// What is wrong with the form, for the model that is asked again.
pub fn parse(reply: &ChatReply) -> Result<Turn, String> {
    let turn = reply.json()?;
    let text = |name: &str| turn[name].as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let step = match (text("tool"), text("say")) {
        (Some(tool), _) if turn["arguments"].is_object() => {
            Step::Call { tool, arguments: turn["arguments"].to_string() }
        }
        (Some(_), _) => return Err("`arguments` is no JSON object".into()),
        (None, Some(words)) => Step::Say(words),
        (None, None) => return Err("neither `tool` with `arguments` nor `say` was found".into()),
    };
    Ok(Turn { thought: text("thought"), step })
}

/// A turn as such an agent writes it.
pub fn write(thought: Option<&str>, words: &str, call: Option<&ToolCall>) -> String {
    let thought = thought.unwrap_or_default();
    // What is no JSON was refused, and is shown as it was.
    let arguments = |call: &ToolCall| call.arguments().unwrap_or_else(|_| call.function.arguments.clone().into());
    match call {
        Some(call) => json!({"thought": thought, "tool": call.name(), "arguments": arguments(call)}).to_string(),
        None => json!({"thought": thought, "say": words}).to_string(),
    }
}

/// What a simulated user writes, and whether it has nothing more to say. Small models do not come to an end by themselves:
/// what is longer than its words may be, or ends where it may not, would be refused anyway.
pub fn user_schema(most_words: Option<u32>, may_end: bool) -> ReplySchema {
    let mut message = json!({"type": "string", "minLength": u8::from(!may_end)});
    if let Some(words) = most_words {
        message["maxLength"] = words.saturating_mul(LETTERS_OF_A_WORD).into();
    }
    let done: &[bool] = if may_end { &[true, false] } else { &[false] };
    let schema = json!({
        "type": "object", "required": ["message", "done"], "additionalProperties": false,
        "properties": {"message": message, "done": {"type": "boolean", "enum": done}},
    });
    ReplySchema { name: "message".into(), schema }
}

/// # Errors
/// What is wrong with the form, for the model that is asked again.
pub fn parse_user(reply: &ChatReply) -> Result<(String, bool), String> {
    let turn = reply.json()?;
    let words = turn["message"].as_str().ok_or("there is no `message`")?;
    Ok((words.trim().to_owned(), turn["done"].as_bool().unwrap_or_default()))
}

pub fn write_user(words: &str, done: bool) -> String {
    json!({"message": words, "done": done}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(content: &str) -> ChatReply {
        ChatReply { content: content.into(), ..ChatReply::default() }
    }

    #[test]
    fn replies_are_read_as_they_come() {
        let call = parse(&says(r#"{"thought": "Look.", "tool": "get", "arguments": {"id": 1.50}}"#)).expect("a call");
        let step = Step::Call { tool: "get".into(), arguments: r#"{"id":1.50}"#.into() };
        assert_eq!(call, Turn { thought: Some("Look.".into()), step });
        let said = parse(&says("```json\n{\"thought\": \"\", \"say\": \" It is 5. \"}\n```")).expect("words");
        assert_eq!(said, Turn { thought: None, step: Step::Say("It is 5.".into()) });
        for wrong in
            ["It is 5.", "[]", "{}", r#"{"say": ""}"#, r#"{"tool": "get"}"#, r#"{"tool": "get", "arguments": 1}"#]
        {
            assert!(parse(&says(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let call = ToolCall::new(String::new(), "get".into(), r#"{"id":"a"}"#.into());
        let step = Step::Call { tool: "get".into(), arguments: r#"{"id":"a"}"#.into() };
        let read = parse(&says(&write(Some("Why."), "", Some(&call))));
        assert_eq!(read, Ok(Turn { thought: Some("Why.".into()), step }));
        assert_eq!(parse_user(&says(&write_user("Thanks!", true))), Ok(("Thanks!".into(), true)));
    }

    #[test]
    fn the_schema_passes_what_can_be_read_and_nothing_else() {
        let get = json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}});
        let functions = [Arc::new(json!({"type": "function", "function": {"name": "get", "parameters": get}}))];
        let schema = jsonschema::validator_for(&schema(&functions).schema).expect("a schema");
        let passes = |text: &str| schema.is_valid(&serde_json::from_str(text).expect("JSON"));
        for right in
            [write(Some("Why."), "It is 5.", None), r#"{"thought":"","tool":"get","arguments":{"id":"a"}}"#.into()]
        {
            assert!(passes(&right), "{right}");
        }
        for wrong in [
            r#"{"thought":"","tool":"got","arguments":{"id":"a"}}"#,
            r#"{"thought":"","tool":"get","arguments":{}}"#,
            r#"{"thought":"","say":""}"#,
            r#"{"thought":"","say":"x","tool":"get"}"#,
        ] {
            assert!(!passes(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_user_who_may_not_end_cannot() {
        let passes = |may_end: bool, words: &str, done: bool| {
            let schema = jsonschema::validator_for(&user_schema(Some(1), may_end).schema).expect("a schema");
            schema.is_valid(&serde_json::from_str(&write_user(words, done)).expect("JSON"))
        };
        assert!(passes(true, "Thanks.", true) && passes(true, "", true) && passes(true, "Why?", false));
        assert!(passes(false, "Why?", false) && !passes(false, "Thanks.", true) && !passes(false, "", false));
        assert!(!passes(true, "Thanks a lot.", true), "longer than one word may be");
    }
}
