//! Where a conversation stands: the fold of its events.

use std::collections::VecDeque;

use domain::event::{Answer, Event, EventKind};
use domain::fault::FaultKind;
use domain::message::{Message, ToolCall};
use domain::outcome::{Ending, Outcome};
use domain::verdict::{Verdict, Verification};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ReplayError;
use crate::world::{InitialWorld, World};

/// What happens next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Phase {
    Start,
    User,
    Agent,
    /// The first pending call is answered.
    Tool,
    /// The first pending call has its response; the change it makes is not known yet.
    Write {
        response: Value,
    },
    /// An end was reached.
    End {
        ending: Ending,
    },
    Verify,
    Judge,
    Finish,
    Done(Outcome),
}

/// A call that was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub tool: String,
    pub arguments: String,
    pub answer: Answer,
    pub content: String,
    pub note: Option<String>,
    pub fault: Option<FaultKind>,
    /// The agent turn that made it, from 1.
    pub turn: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub next_seq: u32,
    pub phase: Phase,
    pub world: World,
    /// The version before the last change: what a stale read sees.
    pub world_before: World,
    /// Hash of the world that the conversation started from.
    pub initial_hash: String,
    /// Without the system prompt.
    pub messages: Vec<Message>,
    pub calls: Vec<Call>,
    /// Calls of the last agent turn that are not answered yet.
    pub pending: VecDeque<ToolCall>,
    /// Event of the agent turn the pending calls belong to, and how many it made.
    pub turn_seq: u32,
    pub calls_in_turn: u32,
    pub calls_made: u32,
    pub user_turns: u32,
    pub agent_turns: u32,
    /// Agent turns since the user spoke.
    pub steps: u32,
    /// Replies refused at this very place, with the reasons.
    pub refused: Vec<(String, String)>,
    pub ending: Option<Ending>,
    pub verification: Option<Verification>,
    pub verdict: Option<Verdict>,
}

impl State {
    pub fn new(initial: &InitialWorld) -> Self {
        Self {
            next_seq: 0,
            phase: Phase::Start,
            initial_hash: initial.hash.clone(),
            world: initial.world.clone(),
            world_before: initial.world.clone(),
            messages: Vec::new(),
            calls: Vec::new(),
            pending: VecDeque::new(),
            turn_seq: 0,
            calls_in_turn: 0,
            calls_made: 0,
            user_turns: 0,
            agent_turns: 0,
            steps: 0,
            refused: Vec::new(),
            ending: None,
            verification: None,
            verdict: None,
        }
    }

    /// Hash of the world as it is now. Not cheap: it reads the whole world.
    pub fn world_hash(&self) -> String {
        if self.world.version() == 0 { self.initial_hash.clone() } else { self.world.hash() }
    }

    pub fn pending_len(&self) -> u32 {
        u32::try_from(self.pending.len()).unwrap_or(u32::MAX)
    }

    /// # Errors
    /// An event that cannot follow; the state is then as it was.
    pub fn apply(&mut self, event: &Event) -> Result<(), ReplayError> {
        let wrong = |reason: &str| ReplayError { seq: event.seq, reason: reason.to_owned() };
        if event.seq != self.next_seq {
            return Err(wrong(&format!("expected event {}", self.next_seq)));
        }
        match &event.kind {
            EventKind::Started { world_hash, .. } => {
                if *world_hash != self.initial_hash {
                    return Err(wrong("it starts from another world"));
                }
                self.phase = Phase::User;
            }
            EventKind::UserSpoke { content, ended, .. } => self.user_spoke(content, *ended),
            EventKind::AgentSpoke { content, reasoning, tool_calls, .. } => {
                self.agent_spoke(content, reasoning.as_ref(), tool_calls);
                self.turn_seq = event.seq;
            }
            EventKind::ToolSimulated { response, .. } => self.phase = Phase::Write { response: response.clone() },
            EventKind::ToolAnswered { call_id, content, answer, patch, note, fault, .. } => {
                let world = self.world.apply(patch).map_err(|e| wrong(&e.to_string()))?;
                let Some(call) = self.pending.front().filter(|c| c.id == *call_id).cloned() else {
                    return Err(wrong("no such call is waiting"));
                };
                self.pending.pop_front();
                if !patch.is_empty() {
                    self.world_before = std::mem::replace(&mut self.world, world);
                }
                self.tool_answered(call, content, *answer, note.clone(), *fault);
            }
            EventKind::Refused { reply, reason, .. } => self.refused.push((reply.clone(), reason.clone())),
            EventKind::Ended { ending } => {
                self.ending = Some(ending.clone());
                self.pending.clear();
                self.phase = Phase::Verify;
            }
            EventKind::Verified { verification } => {
                self.verification = Some(verification.clone());
                self.phase = Phase::Judge;
            }
            EventKind::Judged { verdict, .. } => {
                self.verdict = Some(verdict.clone());
                self.phase = Phase::Finish;
            }
            EventKind::Finished { outcome } => self.phase = Phase::Done(outcome.clone()),
        }
        if !matches!(event.kind, EventKind::Refused { .. }) {
            self.refused.clear();
        }
        self.next_seq += 1;
        Ok(())
    }

    fn user_spoke(&mut self, content: &str, ended: bool) {
        if !content.is_empty() {
            self.messages.push(Message::User { content: content.to_owned() });
        }
        self.user_turns += 1;
        self.steps = 0;
        self.phase = if ended { Phase::End { ending: Ending::UserEnded } } else { Phase::Agent };
    }

    fn agent_spoke(&mut self, content: &str, reasoning: Option<&String>, tool_calls: &[ToolCall]) {
        self.messages.push(Message::Assistant {
            content: content.to_owned(),
            reasoning_content: reasoning.cloned(),
            tool_calls: tool_calls.to_vec(),
        });
        self.agent_turns += 1;
        self.steps += 1;
        self.pending = tool_calls.iter().cloned().collect();
        self.calls_in_turn = self.pending_len();
        self.calls_made += self.calls_in_turn;
        self.phase = if tool_calls.is_empty() { Phase::User } else { Phase::Tool };
    }

    fn tool_answered(
        &mut self,
        call: ToolCall,
        content: &str,
        answer: Answer,
        note: Option<String>,
        fault: Option<FaultKind>,
    ) {
        if answer != Answer::Terminal {
            self.messages.push(Message::Tool { tool_call_id: call.id, content: content.to_owned() });
        }
        let tool = call.function.name;
        let arguments = call.function.arguments;
        self.calls.push(Call {
            tool: tool.clone(),
            arguments,
            answer,
            content: content.to_owned(),
            note,
            fault,
            turn: self.agent_turns,
        });
        self.phase = match answer {
            Answer::Terminal => Phase::End { ending: Ending::Terminal { tool } },
            _ if self.pending.is_empty() => Phase::Agent,
            _ => Phase::Tool,
        };
    }
}
