//! From events to what a reader sees, in order: who spoke, what was called, what was refused, how it ended.

use std::collections::HashMap;

use domain::event::{Answer, Event, EventKind};
use domain::fault::FaultKind;
use domain::message::ToolCall;
use domain::outcome::Ending;
use domain::patch::Patch;
use domain::role::Role;

use crate::json_text;

#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    User { content: String },
    Agent { content: String, reasoning: Option<String> },
    Call(Call),
    Refused { role: Role, reply: String, reason: String },
    Ending(Ending),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub by: Caller,
    pub tool: String,
    /// Laid out if they are JSON, else as the model wrote them; empty if there are none.
    pub arguments: String,
    /// What a sub-agent did to answer it.
    pub branch: Option<Vec<Turn>>,
    /// Absent until the call is answered.
    pub answered: Option<Answered>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    Agent,
    User,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    pub answer: Answer,
    pub content: String,
    pub patch: Patch,
    /// What went wrong, as planned.
    pub fault: Option<FaultKind>,
    /// Why nobody could answer.
    pub note: Option<String>,
}

/// Calls stand where they were made, each with its answer, whenever that came; what a sub-agent did stands within the
/// call that started it.
pub fn turns(events: Vec<Event>) -> Vec<Turn> {
    let mut fold = Fold::default();
    for event in events {
        fold.event(event.kind);
    }
    fold.finish()
}

/// A list of turns that grows, and where the calls in it stand.
#[derive(Default)]
struct Level {
    turns: Vec<Turn>,
    calls: HashMap<String, usize>,
    /// The call that started it; empty on the trunk.
    call_id: String,
}

#[derive(Default)]
struct Fold {
    trunk: Level,
    /// Sub-agents at work, outermost first.
    branches: Vec<Level>,
}

impl Fold {
    fn level(&mut self) -> &mut Level {
        self.branches.last_mut().unwrap_or(&mut self.trunk)
    }

    fn event(&mut self, event: EventKind) {
        match event {
            EventKind::UserSpoke { content, .. } => {
                if !content.trim().is_empty() {
                    self.level().turns.push(Turn::User { content });
                }
            }
            EventKind::UserActed { tool_calls, .. } => self.level().called(Caller::User, tool_calls),
            EventKind::AgentSpoke { content, reasoning, tool_calls, .. } => {
                let level = self.level();
                level.turns.extend(spoken(content, reasoning));
                level.called(Caller::Agent, tool_calls);
            }
            EventKind::Delegated { call_id, .. } => self.branches.push(Level { call_id, ..Level::default() }),
            EventKind::ToolAnswered { call_id, tool, content, answer, patch, fault, note, .. } => {
                self.join(&call_id);
                let content = json_text::layout(&content);
                self.level().answered(&call_id, tool, Answered { answer, content, patch, fault, note });
            }
            EventKind::Refused { role, reply, reason, .. } => {
                self.level().turns.push(Turn::Refused { role, reply, reason });
            }
            EventKind::Ended { ending } => {
                self.join_all();
                self.trunk.turns.push(Turn::Ending(ending));
            }
            // Shown beside the transcript or, for a simulated response, with the answer that follows it.
            EventKind::Started { .. }
            | EventKind::ToolSimulated { .. }
            | EventKind::Verified { .. }
            | EventKind::Judged { .. }
            | EventKind::Finished { .. } => {}
        }
    }

    /// The sub-agent that was started by this call, if it is at work, comes to its end.
    fn join(&mut self, call_id: &str) {
        if self.branches.last().is_some_and(|level| level.call_id == call_id)
            && let Some(ended) = self.branches.pop()
            && let Some(call) = self.level().call(call_id)
        {
            call.branch = Some(ended.turns);
        }
    }

    fn join_all(&mut self) {
        while let Some(call_id) = self.branches.last().map(|level| level.call_id.clone()) {
            self.join(&call_id);
        }
    }

    fn finish(mut self) -> Vec<Turn> {
        self.join_all();
        self.trunk.turns
    }
}

impl Level {
    fn called(&mut self, by: Caller, calls: Vec<ToolCall>) {
        for call in calls {
            let (tool, arguments) = (call.name().to_owned(), json_text::layout(&call.function.arguments));
            self.calls.insert(call.id, self.turns.len());
            self.turns.push(Turn::Call(Call { by, tool, arguments, branch: None, answered: None }));
        }
    }

    fn call(&mut self, id: &str) -> Option<&mut Call> {
        match self.turns.get_mut(*self.calls.get(id)?) {
            Some(Turn::Call(call)) => Some(call),
            _ => None,
        }
    }

    fn answered(&mut self, id: &str, tool: String, answered: Answered) {
        if let Some(call) = self.call(id) {
            call.answered = Some(answered);
        } else {
            // An answer to a call that is not here is still shown: nothing that happened is hidden.
            let (by, arguments, answered) = (Caller::Agent, String::new(), Some(answered));
            self.turns.push(Turn::Call(Call { by, tool, arguments, branch: None, answered }));
        }
    }
}

/// An agent that only calls tools says nothing, and gets no empty bubble.
fn spoken(content: String, reasoning: Option<String>) -> Option<Turn> {
    let reasoning = reasoning.filter(|text| !text.trim().is_empty());
    let silent = content.trim().is_empty() && reasoning.is_none();
    (!silent).then_some(Turn::Agent { content, reasoning })
}

#[cfg(test)]
mod tests;
