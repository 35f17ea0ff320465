//! A call of a trainer as a turn of the agent. Whatever is wrong with a call is a fault of the agent and costs a turn: otherwise an
//! agent could try for ever, or get rid of its reward.

use std::sync::Arc;

use domain::chat::{AgentTurn, ChatReply};
use domain::event::{Event, EventKind};
use domain::message::ToolCall;
use domain::reasoning;
use domain::role::Role;
use generation::episodes::message;
use serde_json::Value;

use super::{functions, tools};

/// The message that a call of a tool stands for, or what is wrong with the call. `beside`: what the agent says in addition.
pub fn reply(
    functions: &[Arc<Value>],
    tool: &str,
    arguments: Value,
    beside: Option<String>,
) -> Result<ChatReply, String> {
    if tool == tools::reply_name(functions) {
        let text = arguments.get("text").and_then(Value::as_str).map(str::to_owned).or(beside);
        let content = text.ok_or("`text` is missing: say something to the user")?;
        return Ok(ChatReply { content, ..ChatReply::default() });
    }
    let function = functions.iter().find(|function| functions::name(function) == tool);
    let arguments = match arguments {
        Value::Null => "{}".to_owned(),
        Value::Object(arguments) => Value::Object(functions::given(function, arguments)).to_string(),
        // Whoever answers the call says what is wrong with them.
        other => other.to_string(),
    };
    let call = ToolCall::new(String::new(), tool.to_owned(), arguments);
    Ok(ChatReply { content: beside.unwrap_or_default(), tool_calls: vec![call], ..ChatReply::default() })
}

/// The turn of the agent. If there is no message that can be taken, the agent reads why.
pub fn of(reply: Result<ChatReply, String>) -> AgentTurn {
    let taken = reply.and_then(|reply| match message::check_size(&reply) {
        Ok(()) => Ok(reply),
        Err(error) => Err(error.to_string()),
    });
    match taken {
        Ok(reply) => AgentTurn::Reply(reply),
        Err(reason) => AgentTurn::Unusable { reply: ChatReply::default(), reason },
    }
}

/// Whether an event is this turn of the agent, as the journal has it. Turns that are refused for the same reason are alike.
pub fn is_recorded_as(said: &AgentTurn, event: &Event) -> bool {
    // What sub-agents say is no turn of the agent.
    if !event.ancestry.is_empty() {
        return false;
    }
    match (said, &event.kind) {
        (AgentTurn::Reply(said), EventKind::AgentSpoke { content, tool_calls, .. }) => {
            let called = tool_calls.iter().map(|call| &call.function);
            reasoning::split(&said.content, None).0 == *content
                && said.tool_calls.iter().map(|call| &call.function).eq(called)
        }
        // It says nothing, or only what it thinks.
        (AgentTurn::Reply(said), EventKind::Refused { role: Role::Agent, reply, .. }) => {
            said.tool_calls.is_empty() && said.content == *reply
        }
        (AgentTurn::Unusable { reason, .. }, EventKind::Refused { role: Role::Agent, reason: refused, .. }) => {
            reason == refused
        }
        _ => false,
    }
}
