//! The agent's turn.

use domain::event::{Event, EventKind};
use domain::message::ToolCall;
use domain::outcome::Ending;
use domain::playbook::AgentStyle;
use domain::role::Role;

use super::{Conversation, Phase, refused};
use crate::{json_turn, react};
use domain::chat::ChatReply;
use domain::transcript::Caller;
use domain::{reasoning, reward};

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
                let before = self.state.acting().sampled.as_deref();
                EventKind::AgentSpoke {
                    content,
                    reasoning,
                    tool_calls: self.numbered(calls),
                    usage: reply.usage,
                    sampling: reply.sampling.map(|sampling| sampling.following(before)),
                }
            }
            Err(reason) => refused(Role::Agent, &reply, reason),
        }
    }

    /// The agent ends the conversation when it is its turn. Its sub-agents cannot.
    pub(crate) fn end_by_agent(&mut self) -> Option<Event> {
        let may_end = self.state.phase == Phase::Agent && self.state.acting().caller == Caller::Agent;
        may_end.then(|| self.record(EventKind::Ended { ending: Ending::AgentEnded })).flatten()
    }

    /// The reward of the agent if it ended the conversation now, at its turn.
    pub(crate) fn reward_if_ended(&self) -> Option<u8> {
        let mut ended = self.clone();
        ended.end_by_agent()?;
        ended.do_next_step()?;
        let verification = ended.state.transcript.verification.as_ref()?;
        let passed = verification.failures().next().is_none();
        reward::reward((!passed).then(|| ended.blamed(verification, "").0), passed)
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
