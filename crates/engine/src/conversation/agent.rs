//! The agent's turn.

use domain::event::EventKind;
use domain::message::ToolCall;
use domain::playbook::AgentStyle;
use domain::role::Role;

use super::{Conversation, refused};
use crate::{json_turn, react};
use domain::chat::ChatReply;
use domain::reasoning;

impl Conversation {
    pub(super) fn hear_agent(&self, mut reply: ChatReply) -> EventKind {
        let (said, thought) = reasoning::split(&reply.content, reply.reasoning.as_deref());
        let heard = match self.case.agent_style {
            AgentStyle::FunctionCalling => Ok((said, thought, std::mem::take(&mut reply.tool_calls))),
            AgentStyle::React => react::parse(&said).map(|turn| spoken(turn, thought)),
            AgentStyle::Json => json_turn::parse(&reply).map(|turn| spoken(turn, thought)),
        };
        match heard {
            Ok((content, _, calls)) if content.is_empty() && calls.is_empty() => {
                refused(Role::Agent, &reply, "the reply is empty: say something or call a tool".to_owned())
            }
            Ok((content, reasoning, calls)) => {
                EventKind::AgentSpoke { content, reasoning, tool_calls: self.numbered(calls), usage: reply.usage }
            }
            Err(reason) => refused(Role::Agent, &reply, reason),
        }
    }

    /// Endpoints repeat ids or leave them out; ours are unique in the conversation.
    pub(super) fn numbered(&self, calls: Vec<ToolCall>) -> Vec<ToolCall> {
        let ids = self.state.transcript.calls_made + 1..;
        ids.zip(calls).map(|(n, call)| ToolCall { id: format!("call_{n}"), ..call }).collect()
    }
}

type SpokenTurn = (String, Option<String>, Vec<ToolCall>);

fn spoken(turn: react::Turn, thought: Option<String>) -> SpokenTurn {
    let reasoning = match (thought, turn.thought) {
        (Some(a), Some(b)) => Some(format!("{a}\n\n{b}")),
        (a, b) => a.or(b),
    };
    match turn.step {
        react::Step::Say(text) => (text, reasoning, Vec::new()),
        react::Step::Call { tool, arguments } => {
            (String::new(), reasoning, vec![ToolCall::new(String::new(), tool, arguments)])
        }
    }
}
