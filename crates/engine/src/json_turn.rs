//! Turns as one JSON object each. Endpoints that hold replies to a schema let also a small model make calls that can be read.

use std::sync::Arc;

use domain::message::ToolCall;
use serde_json::{Value, json};

use crate::react::{self, Step, Turn};
use domain::chat::{ChatReply, ReplySchema};

/// Of the longest one, which may be an id.
const LETTERS_OF_A_WORD: u32 = 40;

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

/// What a simulated user writes, and whether it has nothing more to say. Small models do not count words and do not come to
/// an end by themselves: what has fewer or more `words` than it may, or ends where it may not, would be refused anyway.
pub fn user_schema(words: Option<[u32; 2]>, may_end: bool) -> ReplySchema {
    let mut message = json!({"type": "string", "minLength": u8::from(!may_end)});
    if let Some([fewest, most]) = words {
        message["pattern"] = of_words(fewest, most, may_end).into();
    }
    let done: &[bool] = if may_end { &[true, false] } else { &[false] };
    let schema = json!({
        "type": "object", "required": ["message", "done"], "additionalProperties": false,
        "properties": {"message": message, "done": {"type": "boolean", "enum": done}},
    });
    ReplySchema { name: "message".into(), schema }
}

/// One line of so many words. Without what JSON escapes: engines write by the pattern between the quotation marks as it is.
fn of_words(fewest: u32, most: u32, may_be_empty: bool) -> String {
    let word = format!(r#"[^\x00-\x20"\\]{{1,{LETTERS_OF_A_WORD}}}"#);
    let (least, more) = (fewest.saturating_sub(1), most.saturating_sub(1));
    let line = format!("{word}( {word}){{{least},{more}}}");
    if may_be_empty { format!("^({line})?$") } else { format!("^{line}$") }
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

    fn user_may(words: Option<[u32; 2]>, may_end: bool) -> impl Fn(&str, bool) -> bool {
        let schema = jsonschema::validator_for(&user_schema(words, may_end).schema).expect("a schema");
        move |words, done| schema.is_valid(&serde_json::from_str(&write_user(words, done)).expect("JSON"))
    }

    #[test]
    fn a_user_who_may_not_end_cannot() {
        for words in [None, Some([1, 3])] {
            let may = user_may(words, true);
            assert!(may("Thanks.", true) && may("", true) && may("Why?", false), "{words:?}");
            let may = user_may(words, false);
            assert!(may("Why?", false) && !may("Thanks.", true) && !may("", false), "{words:?}");
        }
    }

    #[test]
    fn a_user_writes_as_many_words_as_it_may() {
        let may = user_may(Some([2, 3]), false);
        assert!(may("Why’s that?", false) && may("É #4417: why?", false));
        for wrong in ["Why?", "And why is that?", "Why  that?", "Why that? ", "Why\nthat?", "Why \"that\"?"] {
            assert!(!may(wrong, false), "{wrong}");
        }
        let id = "01a2089f-21e2-7c1d-9a0b-3f5e8d7c6b5a";
        assert!(may(&format!("It's {id}"), false) && !may(&format!("It's {id}{id}"), false));
        assert!(user_may(Some([0, 1]), false)("Yes.", false), "no fewest");
    }
}
