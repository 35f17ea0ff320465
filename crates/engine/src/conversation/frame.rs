//! Whoever acts: the agent under test, a sub-agent within it, or the simulated user with its own tools.

use std::collections::VecDeque;

use domain::event::Fork;
use domain::message::{Message, ToolCall};
use serde::{Deserialize, Serialize};

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

/// What one of them sees and has asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    pub caller: Caller,
    /// Where its steps stand among the fan-outs; empty on the trunk.
    pub path: Vec<Fork>,
    /// What it sees, without its system prompt.
    pub messages: Vec<Message>,
    /// Calls of its last turn that are not answered yet.
    pub pending: VecDeque<ToolCall>,
    /// Event of the turn that the pending calls belong to, and how many it made.
    pub turn_seq: u32,
    pub calls_in_turn: u32,
    pub turns: u32,
    /// Turns since it was last spoken to.
    pub steps: u32,
}

impl Frame {
    pub fn new(caller: Caller, path: Vec<Fork>) -> Self {
        let (messages, pending) = (Vec::new(), VecDeque::new());
        Self { caller, path, messages, pending, turn_seq: 0, calls_in_turn: 0, turns: 0, steps: 0 }
    }

    /// It says something, or asks for calls.
    pub(super) fn turn(&mut self, seq: u32, content: String, reasoning: Option<String>, calls: Vec<ToolCall>) {
        self.turns += 1;
        self.steps += 1;
        self.pending = calls.iter().cloned().collect();
        self.turn_seq = seq;
        self.calls_in_turn = count(calls.len());
        self.messages.push(Message::Assistant { content, reasoning_content: reasoning, tool_calls: calls });
    }

    /// It is spoken to.
    pub(super) fn told(&mut self, content: String) {
        self.messages.push(Message::User { content });
        self.steps = 0;
    }

    /// Whether it is the sub-agent that this call started.
    pub(super) fn was_started_by(&self, call: &str) -> bool {
        matches!(&self.caller, Caller::SubAgent { call_id, .. } if call_id == call)
    }

    /// The fan-out of its first pending call.
    pub(super) fn fork(&self) -> Fork {
        Fork { seq: self.turn_seq, index: self.calls_in_turn - count(self.pending.len()) }
    }

    /// Where the answers to its pending calls stand: parallel ones each in a branch.
    pub(super) fn call_path(&self) -> Vec<Fork> {
        let fork = (self.calls_in_turn > 1).then(|| self.fork());
        self.path.iter().copied().chain(fork).collect()
    }
}

pub(super) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
