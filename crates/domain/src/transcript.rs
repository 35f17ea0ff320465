//! What was said and done in a conversation: the fold of its events.
//!
//! The engine plays on from it, exports and corpora make rows of it, and pages show it. The fold never fails and leaves
//! nothing out: the engine decides which events may follow, before it applies them.

mod frame;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::event::{Answer, Event, EventKind, Fork, Usage};
use crate::fault::FaultKind;
use crate::message::{Message, ToolCall};
use crate::outcome::{Ending, Outcome};
use crate::patch::Patch;
use crate::persona::{Complexity, Persona};
use crate::role::Role;
use crate::sampling::Sampling;
use crate::verdict::{Verdict, Verification};
use frame::count;
pub use frame::{Caller, Frame};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    /// The number of the event that comes next.
    pub next_seq: u32,
    /// Absent until the conversation has started.
    pub start: Option<Start>,
    pub user: Frame,
    /// The agent under test, and above it the sub-agents that are at work. There is always one.
    pub agents: Vec<Frame>,
    /// Sub-agents that came to an end, in that order.
    pub branches: Vec<Frame>,
    /// Sub-agents that were at work when the conversation ended, outermost first.
    pub interrupted: Vec<Frame>,
    /// Calls that were answered, in the order of their answers.
    pub calls: Vec<Call>,
    /// How many calls were made, by anybody.
    pub calls_made: u32,
    /// How often the user spoke, its calls not counted.
    pub user_turns: u32,
    pub refusals: Vec<Refusal>,
    pub end: Option<EndEvent>,
    pub verification: Option<Verification>,
    /// One of each judge.
    pub verdicts: Vec<Verdict>,
    pub outcome: Option<Outcome>,
    /// Tokens by role, refused replies included: they were paid for.
    pub usage: BTreeMap<Role, Usage>,
}

/// What is fixed before the first word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Start {
    pub persona: Arc<Persona>,
    pub complexity: Complexity,
    pub world_hash: String,
}

/// The ending of the conversation, and its event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndEvent {
    pub seq: u32,
    pub ending: Ending,
}

/// A call that was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The event of its answer.
    pub seq: u32,
    pub id: String,
    pub tool: String,
    pub arguments: String,
    pub caller: Caller,
    /// Which of the caller's turns made it, from 1. It is 0 for the answer to a call that nobody made, which the engine
    /// refuses.
    pub turn: u32,
    pub answer: Answer,
    /// What the caller reads.
    pub content: String,
    /// What it changed in the world.
    pub patch: Patch,
    /// What went wrong with it, as planned.
    pub fault: Option<FaultKind>,
    /// Why nobody could answer.
    pub note: Option<String>,
}

/// A model's reply that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub seq: u32,
    /// Where it stands among the fan-outs; empty on the trunk.
    pub path: Vec<Fork>,
    pub role: Role,
    pub reply: String,
    pub reason: String,
}

impl Default for Transcript {
    fn default() -> Self {
        Self {
            next_seq: 0,
            start: None,
            user: Frame::new(Caller::User, Vec::new()),
            agents: vec![Frame::new(Caller::Agent, Vec::new())],
            branches: Vec::new(),
            interrupted: Vec::new(),
            calls: Vec::new(),
            calls_made: 0,
            user_turns: 0,
            refusals: Vec::new(),
            end: None,
            verification: None,
            verdicts: Vec::new(),
            outcome: None,
            usage: BTreeMap::new(),
        }
    }
}

impl FromIterator<Event> for Transcript {
    fn from_iter<I: IntoIterator<Item = Event>>(events: I) -> Self {
        let mut transcript = Self::default();
        events.into_iter().for_each(|event| transcript.apply(event));
        transcript
    }
}

impl Transcript {
    /// The agent under test.
    pub fn agent(&self) -> &Frame {
        &self.agents[0]
    }

    /// Who acts: the user while its calls are answered, else the innermost agent.
    pub fn acting(&self) -> &Frame {
        if self.user.pending.is_empty() { self.agents.last().unwrap_or(&self.user) } else { &self.user }
    }

    /// All sub-agents, in the order in which they were started.
    pub fn sub_agents(&self) -> Vec<&Frame> {
        let at_work = self.agents.iter().skip(1);
        let mut all: Vec<&Frame> = self.branches.iter().chain(&self.interrupted).chain(at_work).collect();
        all.sort_by_key(|frame| frame.seqs.first());
        all
    }

    /// The frames of the agent under test and of all sub-agents.
    pub fn agent_frames_mut(&mut self) -> impl Iterator<Item = &mut Frame> {
        self.agents.iter_mut().chain(&mut self.branches).chain(&mut self.interrupted)
    }

    /// The frames of the agent under test and of all sub-agents.
    pub fn into_agent_frames(self) -> impl Iterator<Item = Frame> {
        self.agents.into_iter().chain(self.branches).chain(self.interrupted)
    }

    /// Turns of the agent under test and of sub-agents, each with its event, in order.
    pub fn agent_turns(&self) -> Vec<(u32, &Message)> {
        let frames = self.sub_agents().into_iter().chain([self.agent()]);
        let turns = frames.flat_map(Frame::entries).filter(|(_, message)| matches!(message, Message::Assistant { .. }));
        let mut turns: Vec<(u32, &Message)> = turns.collect();
        turns.sort_by_key(|(seq, _)| *seq);
        turns
    }

    /// Answered calls of the agent under test and of sub-agents.
    pub fn agent_calls(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| call.caller != Caller::User)
    }

    /// Calls that changed the world, in order.
    pub fn changes(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| !call.patch.is_empty())
    }

    /// Replies that were refused at the very place that the conversation has come to.
    pub fn refused(&self) -> &[Refusal] {
        let behind = self.refusals.iter().rev().zip(1..);
        let here = behind.take_while(|(refusal, back)| refusal.seq + back == self.next_seq).count();
        &self.refusals[self.refusals.len() - here..]
    }

    pub fn ending(&self) -> Option<&Ending> {
        self.end.as_ref().map(|end| &end.ending)
    }

    /// What the judges say together; `None` before the first has spoken.
    pub fn verdict(&self) -> Option<Verdict> {
        Verdict::of_panel(&self.verdicts)
    }

    pub fn apply(&mut self, event: Event) {
        let Event { seq, ancestry, kind } = event;
        if let Some((role, usage)) = kind.usage() {
            *self.usage.entry(role).or_default() += usage;
        }
        match kind {
            EventKind::Started { persona, complexity, world_hash } => {
                self.start = Some(Start { persona, complexity, world_hash });
            }
            EventKind::UserSpoke { content, .. } => self.user_spoke(seq, content),
            EventKind::UserActed { tool_calls, .. } => {
                self.calls_made += count(tool_calls.len());
                self.user.speak(seq, String::new(), None, tool_calls);
            }
            EventKind::AgentSpoke { content, reasoning, tool_calls, sampling, .. } => {
                self.agent_spoke(seq, content, reasoning, tool_calls);
                if let Some(sampling) = sampling {
                    self.sampled(seq, sampling);
                }
            }
            EventKind::Delegated { call_id, agent, task } => {
                let mut frame = Frame::new(Caller::SubAgent { name: agent, call_id }, ancestry);
                frame.hear(seq, task);
                self.agents.push(frame);
            }
            EventKind::ToolAnswered { call_id: id, tool, content, answer, patch, fault, note, .. } => {
                let (caller, turn, arguments) = self.answered(seq, &id, answer, &content);
                self.calls.push(Call { seq, id, tool, arguments, caller, turn, answer, content, patch, fault, note });
            }
            EventKind::Refused { role, reply, reason, .. } => {
                self.refusals.push(Refusal { seq, path: ancestry, role, reply, reason });
            }
            EventKind::Ended { ending } => self.ended(EndEvent { seq, ending }),
            EventKind::Verified { verification } => self.verification = Some(verification),
            EventKind::Judged { verdict, .. } => self.verdicts.push(verdict),
            EventKind::Finished { outcome } => self.outcome = Some(outcome),
            // Its call is answered by the event that follows.
            EventKind::ToolSimulated { .. } => {}
        }
        self.next_seq = seq.saturating_add(1);
    }

    fn user_spoke(&mut self, seq: u32, content: String) {
        self.user_turns += 1;
        if !content.is_empty() {
            self.agents[0].hear(seq, content.clone());
            self.user.speak(seq, content, None, Vec::new());
        }
    }

    fn agent_spoke(&mut self, seq: u32, content: String, reasoning: Option<String>, tool_calls: Vec<ToolCall>) {
        if self.agents.len() == 1 && !content.is_empty() {
            self.user.hear(seq, content.clone());
        }
        self.calls_made += count(tool_calls.len());
        self.innermost().speak(seq, content, reasoning, tool_calls);
    }

    fn sampled(&mut self, seq: u32, sampling: Sampling) {
        self.innermost().sampled.get_or_insert_default().push(seq, sampling);
    }

    /// A call is answered; the sub-agent that it started comes to its end. Who made the call, in which turn, and with which
    /// arguments.
    fn answered(&mut self, seq: u32, call: &str, answer: Answer, content: &str) -> (Caller, u32, String) {
        if self.agents.last().is_some_and(|frame| frame.was_started_by(call)) {
            self.branches.extend(self.agents.pop());
        }
        let caller = self.agents.iter().rposition(|frame| frame.waits_for(call));
        let frame = match caller {
            _ if self.user.waits_for(call) => &mut self.user,
            Some(place) => &mut self.agents[place],
            None => self.innermost(),
        };
        let read = (answer != Answer::Terminal).then(|| content.to_owned());
        let made = frame.receive(seq, call, read);
        let turn = if made.is_some() { frame.turns } else { 0 };
        (frame.caller.clone(), turn, made.map(|call| call.function.arguments).unwrap_or_default())
    }

    fn ended(&mut self, end: EndEvent) {
        self.interrupted.extend(self.agents.drain(1..));
        self.agents.iter_mut().chain([&mut self.user]).for_each(|frame| frame.pending.clear());
        self.end = Some(end);
    }

    fn innermost(&mut self) -> &mut Frame {
        self.agents.last_mut().unwrap_or(&mut self.user)
    }
}

#[cfg(test)]
pub(crate) mod tests;
