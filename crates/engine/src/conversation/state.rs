//! Where a conversation stands: the fold of its events.

use domain::event::{Answer, Event, EventKind};
use domain::fault::FaultKind;
use domain::message::{Message, ToolCall};
use domain::outcome::{Ending, Outcome};
use domain::role::Role;
use domain::verdict::{Verdict, Verification};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ReplayError;
use super::frame::{Caller, Frame, count};
use crate::world::{InitialWorld, World};

/// What happens next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Phase {
    Start,
    User,
    /// The agent under test speaks, or the sub-agent it waits for.
    Agent,
    /// The first pending call of whoever acts is answered.
    Tool,
    /// The sub-agent has said its last word, which answers the call that started it.
    Return {
        content: String,
    },
    /// The first pending call has its response; the change it makes is not known yet.
    Write {
        response: Value,
    },
    /// An end was reached.
    End {
        ending: Ending,
    },
    Verify,
    /// A judge is asked, until each one of the panel has given its verdict.
    Judge,
    Done(Outcome),
}

/// A call that was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub id: String,
    pub tool: String,
    pub arguments: String,
    pub answer: Answer,
    pub content: String,
    pub note: Option<String>,
    pub fault: Option<FaultKind>,
    pub caller: Caller,
    /// Which turn of the caller's made it, from 1.
    pub turn: u32,
}

impl Phase {
    /// Whose answer is waited for. Whether a tool's is, depends on the tool.
    pub const fn asks(&self) -> Option<Role> {
        match self {
            Self::User => Some(Role::SimulatedUser),
            Self::Agent => Some(Role::Agent),
            Self::Tool => Some(Role::ToolSimulator),
            Self::Write { .. } => Some(Role::StateManager),
            Self::Judge => Some(Role::Judge),
            Self::Start | Self::Return { .. } | Self::End { .. } | Self::Verify | Self::Done(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub next_seq: u32,
    /// The last event that is neither a refusal nor the end: what is judged again begins with the events up to it.
    pub last_step: u32,
    pub phase: Phase,
    pub world: World,
    /// The version before the last change: what a stale read sees.
    pub world_before: World,
    /// Hash of the world that the conversation started from.
    pub initial_hash: String,
    pub user: Frame,
    /// The agent under test, and above it the sub-agents that are at work. There is always one.
    pub agents: Vec<Frame>,
    /// Sub-agents that came to an end, in that order.
    pub branches: Vec<Frame>,
    /// In the order of their answers.
    pub calls: Vec<Call>,
    pub calls_made: u32,
    /// What the user said, its calls not counted.
    pub user_turns: u32,
    /// Replies refused at this very place, with the reasons.
    pub refused: Vec<(String, String)>,
    pub ending: Option<Ending>,
    pub verification: Option<Verification>,
    /// One of each judge.
    pub verdicts: Vec<Verdict>,
}

impl State {
    pub fn new(initial: &InitialWorld) -> Self {
        Self {
            next_seq: 0,
            last_step: 0,
            phase: Phase::Start,
            initial_hash: initial.hash.clone(),
            world: initial.world.clone(),
            world_before: initial.world.clone(),
            user: Frame::new(Caller::User, Vec::new()),
            agents: vec![Frame::new(Caller::Agent, Vec::new())],
            branches: Vec::new(),
            calls: Vec::new(),
            calls_made: 0,
            user_turns: 0,
            refused: Vec::new(),
            ending: None,
            verification: None,
            verdicts: Vec::new(),
        }
    }

    /// Hash of the world as it is now. Not cheap: it reads the whole world.
    pub fn world_hash(&self) -> String {
        if self.world.version() == 0 { self.initial_hash.clone() } else { self.world.hash() }
    }

    /// What the judges say together; `None` before the first has spoken.
    pub fn verdict(&self) -> Option<Verdict> {
        Verdict::of_panel(&self.verdicts)
    }

    /// The agent under test.
    pub fn agent(&self) -> &Frame {
        &self.agents[0]
    }

    /// Whoever acts: the user while its calls are answered, else the innermost agent.
    pub fn acting(&self) -> &Frame {
        if self.user.pending.is_empty() { self.agents.last().unwrap_or(&self.user) } else { &self.user }
    }

    fn acting_mut(&mut self) -> &mut Frame {
        if self.user.pending.is_empty() { self.agents.last_mut().unwrap_or(&mut self.user) } else { &mut self.user }
    }

    /// # Errors
    /// An event that cannot follow; the state is then as it was.
    pub fn apply(&mut self, event: Event) -> Result<(), ReplayError> {
        let Event { seq, ancestry, kind } = event;
        let wrong = |reason: &str| ReplayError { seq, reason: reason.to_owned() };
        if seq != self.next_seq {
            return Err(wrong(&format!("expected event {}", self.next_seq)));
        }
        let goes_on = !matches!(kind, EventKind::Refused { .. });
        let ends = matches!(kind, EventKind::Finished { .. });
        match kind {
            EventKind::Started { world_hash, .. } => {
                if world_hash != self.initial_hash {
                    return Err(wrong("it starts from another world"));
                }
                self.phase = Phase::User;
            }
            EventKind::UserSpoke { content, ended, walked_out, .. } => {
                let ending = if walked_out { Ending::WalkedOut } else { Ending::UserEnded };
                self.user_spoke(seq, content, ended.then_some(ending));
            }
            EventKind::UserActed { tool_calls, .. } => {
                self.user.turn(seq, String::new(), None, tool_calls);
                self.calls_made += self.user.calls_in_turn;
                self.phase = Phase::Tool;
            }
            EventKind::AgentSpoke { content, reasoning, tool_calls, .. } => {
                self.agent_spoke(seq, content, reasoning, tool_calls);
            }
            EventKind::Delegated { call_id, agent, task } => {
                if self.acting().pending.front().is_none_or(|call| call.id != call_id) {
                    return Err(wrong("no such call is waiting"));
                }
                let mut frame = Frame::new(Caller::SubAgent { name: agent, call_id }, ancestry);
                frame.told(task);
                self.agents.push(frame);
                self.phase = Phase::Agent;
            }
            EventKind::ToolSimulated { response, .. } => self.phase = Phase::Write { response },
            EventKind::ToolAnswered { call_id, content, answer, patch, note, fault, .. } => {
                let world = self.world.apply(&patch).map_err(|e| wrong(&e.to_string()))?;
                let waits = |frame: &Frame| frame.pending.front().is_some_and(|call| call.id == call_id);
                let returns = self.agents.last().is_some_and(|frame| frame.was_started_by(&call_id));
                let caller = if returns { self.agents.iter().rev().nth(1) } else { Some(self.acting()) };
                if !caller.is_some_and(waits) {
                    return Err(wrong("no such call is waiting"));
                }
                if returns {
                    self.branches.extend(self.agents.pop());
                }
                if !patch.is_empty() {
                    self.world_before = std::mem::replace(&mut self.world, world);
                }
                self.tool_answered(content, answer, note, fault);
            }
            EventKind::Refused { reply, reason, .. } => self.refused.push((reply, reason)),
            EventKind::Ended { ending } => {
                self.ending = Some(ending);
                self.agents.truncate(1);
                self.agents.iter_mut().chain([&mut self.user]).for_each(|frame| frame.pending.clear());
                self.phase = Phase::Verify;
            }
            EventKind::Verified { verification } => {
                self.verification = Some(verification);
                self.phase = Phase::Judge;
            }
            EventKind::Judged { verdict, .. } => {
                self.verdicts.push(verdict);
                self.phase = Phase::Judge;
            }
            EventKind::Finished { outcome } => self.phase = Phase::Done(outcome),
        }
        if goes_on {
            self.refused.clear();
        }
        if goes_on && !ends {
            self.last_step = seq;
        }
        self.next_seq += 1;
        Ok(())
    }

    fn user_spoke(&mut self, seq: u32, content: String, ended: Option<Ending>) {
        if !content.is_empty() {
            self.agents[0].told(content.clone());
            self.user.turn(seq, content, None, Vec::new());
        }
        self.user_turns += 1;
        self.phase = ended.map_or(Phase::Agent, |ending| Phase::End { ending });
    }

    fn agent_spoke(&mut self, seq: u32, content: String, reasoning: Option<String>, tool_calls: Vec<ToolCall>) {
        let trunk = self.agents.len() == 1;
        if trunk && !content.is_empty() {
            self.user.told(content.clone());
        }
        self.calls_made += count(tool_calls.len());
        self.phase = match (tool_calls.is_empty(), trunk) {
            (false, _) => Phase::Tool,
            (true, true) => Phase::User,
            (true, false) => Phase::Return { content: content.clone() },
        };
        self.acting_mut().turn(seq, content, reasoning, tool_calls);
    }

    /// The first pending call of whoever acts.
    fn tool_answered(&mut self, content: String, answer: Answer, note: Option<String>, fault: Option<FaultKind>) {
        let frame = self.acting_mut();
        let (caller, turn) = (frame.caller.clone(), frame.turns);
        let Some(call) = frame.pending.pop_front() else { return };
        let id = call.id;
        if answer != Answer::Terminal {
            frame.messages.push(Message::Tool { tool_call_id: id.clone(), content: content.clone() });
        }
        let waiting = !frame.pending.is_empty();
        let speaks = if caller == Caller::User { Phase::User } else { Phase::Agent };
        let (tool, arguments) = (call.function.name, call.function.arguments);
        self.phase = match answer {
            Answer::Terminal => Phase::End { ending: Ending::Terminal { tool: tool.clone() } },
            _ if waiting => Phase::Tool,
            _ => speaks,
        };
        self.calls.push(Call { id, tool, arguments, answer, content, note, fault, caller, turn });
    }
}
