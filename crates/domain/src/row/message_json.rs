//! Messages as JSON. The result is that of serialising them, at the cost of a copy.

use crate::message::{FunctionKind, Message, ToolCall};
use crate::quoted;

type Result = serde_json::Result<()>;

/// Appends them as a JSON array.
pub fn messages(messages: &[Message], out: &mut Vec<u8>) -> Result {
    list(messages, message, out)
}

fn message(message: &Message, out: &mut Vec<u8>) -> Result {
    match message {
        Message::System { content } => text("{\"role\":\"system\",\"content\":", content, out)?,
        Message::User { content } => text("{\"role\":\"user\",\"content\":", content, out)?,
        Message::Assistant { content, reasoning_content, tool_calls } => {
            text("{\"role\":\"assistant\",\"content\":", content, out)?;
            if let Some(thought) = reasoning_content {
                text(",\"reasoning_content\":", thought, out)?;
            }
            if !tool_calls.is_empty() {
                out.extend_from_slice(b",\"tool_calls\":");
                list(tool_calls, call, out)?;
            }
        }
        Message::Tool { tool_call_id, content } => {
            text("{\"role\":\"tool\",\"tool_call_id\":", tool_call_id, out)?;
            text(",\"content\":", content, out)?;
        }
    }
    out.push(b'}');
    Ok(())
}

fn call(call: &ToolCall, out: &mut Vec<u8>) -> Result {
    let ToolCall { id, kind: FunctionKind::Function, function } = call;
    text("{\"id\":", id, out)?;
    text(",\"type\":\"function\",\"function\":{\"name\":", &function.name, out)?;
    text(",\"arguments\":", &function.arguments, out)?;
    out.extend_from_slice(b"}}");
    Ok(())
}

/// What stands before a text, and the text.
fn text(before: &str, text: &str, out: &mut Vec<u8>) -> Result {
    out.extend_from_slice(before.as_bytes());
    quoted::write(text, out)
}

fn list<T>(items: &[T], item: impl Fn(&T, &mut Vec<u8>) -> Result, out: &mut Vec<u8>) -> Result {
    out.push(b'[');
    for (i, one) in items.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        item(one, out)?;
    }
    out.push(b']');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_they_are_serialised() {
        let call = |n: u8| ToolCall::new(format!("call_{n}"), "pay".into(), "{\"to\": \"a\\\\b\"}".into());
        let assistant = |thought: Option<&str>, calls: Vec<ToolCall>| Message::Assistant {
            content: "\u{8}zoë \"quoted\"\n".into(),
            reasoning_content: thought.map(str::to_owned),
            tool_calls: calls,
        };
        let all = [
            Message::System { content: String::new() },
            Message::User { content: "hello".into() },
            assistant(None, vec![call(1), call(2)]),
            assistant(Some("hm"), vec![call(3)]),
            assistant(Some("hm\u{2028}"), Vec::new()),
            Message::Tool { tool_call_id: "call_1".into(), content: "{\"ok\": true}".into() },
        ];
        for n in 0..=all.len() {
            let mut out = Vec::new();
            messages(&all[..n], &mut out).expect("JSON");
            assert_eq!(String::from_utf8(out).expect("UTF-8"), serde_json::to_string(&all[..n]).expect("JSON"));
        }
    }
}
