//! Messages in the shapes of function calling, with reasoning and arguments as a profile wants them.

use std::borrow::Cow;

use domain::export::{Arguments, Reasoning};
use domain::message::{Message, ToolCall};
use serde::Serialize;
use serde_json::Value;

use super::UnfitReason;

#[derive(Serialize)]
pub struct TrainerMessage<'a> {
    pub role: &'static str,
    /// Empty, never null: older chat templates need the key.
    pub content: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<&'a str>,
}

#[derive(Serialize)]
pub struct Call<'a> {
    pub id: &'a str,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub function: Function<'a>,
}

#[derive(Serialize)]
pub struct Function<'a> {
    pub name: &'a str,
    pub arguments: CallArguments<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub enum CallArguments<'a> {
    Text(&'a str),
    Object(Value),
}

/// # Errors
/// Arguments that are no object, which only a row of a malformed call could hold.
pub fn messages(
    messages: &[Message],
    reasoning: Reasoning,
    arguments: Arguments,
) -> Result<Vec<TrainerMessage<'_>>, UnfitReason> {
    messages.iter().map(|message| written(message, reasoning, arguments)).collect()
}

fn written(message: &Message, reasoning: Reasoning, arguments: Arguments) -> Result<TrainerMessage<'_>, UnfitReason> {
    let plain = |role, content| TrainerMessage {
        role,
        content: Cow::Borrowed(content),
        reasoning_content: None,
        tool_calls: Vec::new(),
        tool_call_id: None,
    };
    Ok(match message {
        Message::System { content } => plain("system", content),
        Message::User { content } => plain("user", content),
        Message::Tool { tool_call_id, content } => {
            TrainerMessage { tool_call_id: Some(tool_call_id), ..plain("tool", content) }
        }
        Message::Assistant { content, reasoning_content, tool_calls } => TrainerMessage {
            content: match reasoning {
                Reasoning::Inline => with_thought(content, reasoning_content.as_deref()),
                Reasoning::Keep | Reasoning::Drop => Cow::Borrowed(content),
            },
            reasoning_content: reasoning_content.as_deref().filter(|_| reasoning == Reasoning::Keep),
            tool_calls: tool_calls.iter().map(|one| call(one, arguments)).collect::<Result<_, _>>()?,
            ..plain("assistant", content)
        },
    })
}

fn call(call: &ToolCall, arguments: Arguments) -> Result<Call<'_>, UnfitReason> {
    let arguments = match arguments {
        Arguments::String => CallArguments::Text(&call.function.arguments),
        Arguments::Object => CallArguments::Object(object(call)?),
    };
    Ok(Call { id: &call.id, kind: "function", function: Function { name: call.name(), arguments } })
}

/// The arguments of a call as an object.
pub fn object(call: &ToolCall) -> Result<Value, UnfitReason> {
    match call.arguments() {
        Ok(arguments @ Value::Object(_)) => Ok(arguments),
        Ok(_) => Err(format!("the arguments of `{}` are not an object", call.name())),
        Err(reason) => Err(format!("the arguments of `{}` are not JSON: {reason}", call.name())),
    }
}

/// What was thought, in the tags that chat templates know, before what was said.
pub fn with_thought<'a>(content: &'a str, thought: Option<&str>) -> Cow<'a, str> {
    match thought.filter(|thought| !thought.is_empty()) {
        Some(thought) => Cow::Owned(format!("<think>\n{thought}\n</think>\n\n{content}")),
        None => Cow::Borrowed(content),
    }
}
