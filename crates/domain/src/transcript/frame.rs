//! One participant of a conversation: the agent under test, a sub-agent, or the simulated user with its own tools.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::event::Fork;
use crate::message::{Message, ToolCall};
use crate::sampling::SampledTurns;

/// Who made a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caller {
    Agent,
    User,
    /// The tool that is the sub-agent, and the call that started it.
    SubAgent {
        name: String,
        call_id: String,
    },
}

impl Caller {
    /// The tool that is the sub-agent, if it is one.
    pub fn sub_agent(&self) -> Option<&str> {
        match self {
            Self::SubAgent { name, .. } => Some(name),
            Self::Agent | Self::User => None,
        }
    }
}

/// What one participant sees and has asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    pub caller: Caller,
    /// Where its steps stand among the fan-outs; empty on the trunk.
    pub path: Vec<Fork>,
    /// What it sees, without its system prompt.
    pub messages: Vec<Message>,
    /// The event of each message.
    pub seqs: Vec<u32>,
    /// Calls of its last turn that are not answered yet.
    pub pending: VecDeque<ToolCall>,
    /// Event of the turn that the pending calls belong to, and how many it made.
    pub turn_seq: u32,
    pub calls_in_turn: u32,
    pub turns: u32,
    /// Turns since it was last spoken to.
    pub steps: u32,
    /// The tokens of its turns, where its model was asked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Box<SampledTurns>>,
}

impl Frame {
    pub fn new(caller: Caller, path: Vec<Fork>) -> Self {
        let (messages, seqs, pending) = (Vec::new(), Vec::new(), VecDeque::new());
        Self { caller, path, messages, seqs, pending, turn_seq: 0, calls_in_turn: 0, turns: 0, steps: 0, sampled: None }
    }

    /// Its messages, each with its event.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (u32, &Message)> {
        self.seqs.iter().copied().zip(&self.messages)
    }

    /// Whether it is the sub-agent that this call started.
    pub fn was_started_by(&self, call: &str) -> bool {
        matches!(&self.caller, Caller::SubAgent { call_id, .. } if call_id == call)
    }

    /// The fan-out of its first pending call.
    pub fn fork(&self) -> Fork {
        Fork { seq: self.turn_seq, index: self.calls_in_turn - count(self.pending.len()) }
    }

    /// Where the answers to its pending calls stand: parallel ones each in a branch.
    pub fn call_path(&self) -> Vec<Fork> {
        let fork = (self.calls_in_turn > 1).then(|| self.fork());
        self.path.iter().copied().chain(fork).collect()
    }

    pub(super) fn waits_for(&self, call: &str) -> bool {
        self.pending.iter().any(|pending| pending.id == call)
    }

    /// It says something, or makes calls.
    pub(super) fn speak(&mut self, seq: u32, content: String, reasoning: Option<String>, calls: Vec<ToolCall>) {
        self.turns += 1;
        self.steps += 1;
        self.pending = calls.iter().cloned().collect();
        self.turn_seq = seq;
        self.calls_in_turn = count(calls.len());
        self.push(seq, Message::Assistant { content, reasoning_content: reasoning, tool_calls: calls });
    }

    /// Somebody speaks to it.
    pub(super) fn hear(&mut self, seq: u32, content: String) {
        self.push(seq, Message::User { content });
        self.steps = 0;
    }

    /// A call is answered; `None`: it reads no answer. Returns the call, if it has made it.
    pub(super) fn receive(&mut self, seq: u32, call: &str, content: Option<String>) -> Option<ToolCall> {
        if let Some(content) = content {
            self.push(seq, Message::Tool { tool_call_id: call.to_owned(), content });
        }
        let place = self.pending.iter().position(|pending| pending.id == call)?;
        self.pending.remove(place)
    }

    fn push(&mut self, seq: u32, message: Message) {
        self.seqs.push(seq);
        self.messages.push(message);
    }
}

pub(super) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
