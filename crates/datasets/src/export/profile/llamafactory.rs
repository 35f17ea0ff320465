//! LLaMA-Factory's `ShareGPT` shape: turns of two sides in strict alternation, calls and results as text.

use domain::export::{Reasoning, Shape, ToolsAs};
use domain::message::{Message, ToolCall};
use domain::row::Row;
use serde::Serialize;
use serde_json::{Value, json};

use super::message::{object, with_thought};
use super::object::Object;
use super::{UnfitReason, never};

/// Between the results of parallel calls, which are one turn here: templates put the outer tags round the turn.
const NEXT_RESULT: &str = "\n</tool_response>\n<tool_response>\n";

#[derive(Serialize)]
struct Turn {
    from: &'static str,
    value: String,
}

pub fn record(shape: &Shape, row: &Row, out: &mut Vec<u8>) -> Result<(), UnfitReason> {
    let (system, rest) = match row.messages.split_first() {
        Some((Message::System { content }, rest)) => (content.as_str(), rest),
        _ => ("", &row.messages[..]),
    };
    let turns = turns(rest, shape.reasoning)?;
    let agents = |turn: &Turn| matches!(turn.from, "gpt" | "function_call");
    if turns.len() % 2 != 0 || turns.iter().enumerate().any(|(i, turn)| agents(turn) != (i % 2 == 1)) {
        return Err("its turns do not alternate between the agent and the others".to_owned());
    }
    let mut record = Object::new(out);
    record.field("conversations", &turns)?;
    record.field("system", system)?;
    match row.tools.is_empty() {
        true => record.field("tools", "")?,
        false => record.tools(&row.tools, ToolsAs::Json),
    }
    record.end();
    Ok(())
}

fn turns(messages: &[Message], reasoning: Reasoning) -> Result<Vec<Turn>, UnfitReason> {
    let mut turns: Vec<Turn> = Vec::new();
    for message in messages {
        let (from, value) = match message {
            Message::System { .. } => return Err("there is a system message within the conversation".to_owned()),
            Message::User { content } => ("human", content.clone()),
            Message::Tool { content, .. } => match turns.last_mut() {
                Some(turn) if turn.from == "observation" => {
                    turn.value.push_str(NEXT_RESULT);
                    turn.value.push_str(content);
                    continue;
                }
                _ => ("observation", content.clone()),
            },
            Message::Assistant { content, reasoning_content, tool_calls } => {
                let thought = reasoning_content.as_deref().filter(|_| reasoning == Reasoning::Inline);
                let (from, said) = match tool_calls.as_slice() {
                    [] => ("gpt", content.clone()),
                    calls => ("function_call", called(content, calls)?),
                };
                (from, with_thought(&said, thought).into_owned())
            }
        };
        turns.push(Turn { from, value });
    }
    Ok(turns)
}

/// Calls alone are JSON; beside words they stand in the tags that the reader looks for.
fn called(content: &str, calls: &[ToolCall]) -> Result<String, UnfitReason> {
    let call =
        |call| -> Result<Value, UnfitReason> { Ok(json!({"name": ToolCall::name(call), "arguments": object(call)?})) };
    let calls = calls.iter().map(call).collect::<Result<Vec<_>, _>>()?;
    let json = serde_json::to_string(&calls).map_err(never)?;
    Ok(if content.is_empty() { json } else { format!("{content}\n<tool_call>\n{json}\n</tool_call>") })
}
