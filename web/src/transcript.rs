//! From events to what a reader sees, in order: who spoke, what was called, what was refused, how it ended.

use std::collections::HashMap;

use domain::event::{Answer, Event, EventKind};
use domain::fault::FaultKind;
use domain::message::ToolCall;
use domain::outcome::Ending;
use domain::patch::Patch;
use domain::role::Role;

use crate::json_text;

/// One thing that a reader sees, and where in the conversation it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The event that it shows: of a call its answer. No other turn has it, unless the call has no answer.
    pub seq: u32,
    /// The event that began it: of a call the turn in which it was made.
    pub of: u32,
    /// Whose turn began it, if the conversation can go on differently in its place.
    pub whose: Option<Role>,
    pub what: TurnContent,
}

impl Turn {
    /// As it was before a call was answered: what it says from its beginning on.
    pub fn begun(&self) -> Self {
        let Self { seq, of, whose, what } = self;
        match what {
            TurnContent::Call(Call { by, tool, arguments, .. }) => {
                let (tool, arguments) = (tool.clone(), arguments.clone());
                let call = Call { by: *by, tool, arguments, branch: None, answered: None };
                Self { seq: *of, of: *of, whose: *whose, what: TurnContent::Call(call) }
            }
            said => Self { seq: *seq, of: *of, whose: *whose, what: said.clone() },
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum TurnContent {
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
    pub answered: Option<CallAnswer>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    Agent,
    User,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CallAnswer {
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
        fold.at = CurrentEvent { seq: event.seq, whose: event.whose_turn() };
        fold.event(event.kind);
    }
    fold.finish()
}

/// The events of all turns, in the order in which they are shown: a sub-agent's stand within the call that started it.
pub fn order(turns: &[Turn]) -> Vec<u32> {
    let mut order = Vec::new();
    for turn in turns {
        order.push(turn.seq);
        if let TurnContent::Call(Call { branch: Some(branch), .. }) = &turn.what {
            order.extend(self::order(branch));
        }
    }
    order.dedup();
    order
}

/// Of each event, up to the last that is shown, the turn that shows it, or the one before it: not every event is shown by
/// itself.
pub fn homes(turns: &[Turn]) -> Vec<Option<u32>> {
    let mut all = Vec::new();
    flat(turns, &mut all);
    let last = all.iter().map(|turn| turn.seq).max().unwrap_or_default();
    let mut homes = vec![None; last as usize + 1];
    for turn in &all {
        homes[turn.of as usize].get_or_insert(turn.seq);
    }
    for turn in &all {
        homes[turn.seq as usize] = Some(turn.seq);
    }
    let mut before = None;
    for (seq, home) in (0..).zip(&mut homes) {
        if *home == Some(seq) {
            before = Some(seq);
        }
        *home = home.or(before);
    }
    homes
}

/// Which of the turns shows an event by itself, or within what a sub-agent did.
pub fn position(turns: &[Turn], seq: u32) -> Option<usize> {
    let within = |turn: &Turn| match &turn.what {
        TurnContent::Call(Call { branch: Some(branch), .. }) => position(branch, seq).is_some(),
        _ => false,
    };
    turns.iter().position(|turn| turn.seq == seq || within(turn))
}

fn flat<'a>(turns: &'a [Turn], all: &mut Vec<&'a Turn>) {
    for turn in turns {
        all.push(turn);
        if let TurnContent::Call(Call { branch: Some(branch), .. }) = &turn.what {
            flat(branch, all);
        }
    }
}

/// A list of turns that grows, and where the calls in it stand.
#[derive(Default)]
struct Level {
    turns: Vec<Turn>,
    calls: HashMap<String, usize>,
    /// The call that started it; empty on the trunk.
    call_id: String,
}

/// The event that is looked at.
#[derive(Debug, Clone, Copy, Default)]
struct CurrentEvent {
    seq: u32,
    whose: Option<Role>,
}

impl CurrentEvent {
    const fn turn(self, what: TurnContent) -> Turn {
        Turn { seq: self.seq, of: self.seq, whose: self.whose, what }
    }
}

#[derive(Default)]
struct Fold {
    at: CurrentEvent,
    trunk: Level,
    /// Sub-agents at work, outermost first.
    branches: Vec<Level>,
}

impl Fold {
    fn level(&mut self) -> &mut Level {
        self.branches.last_mut().unwrap_or(&mut self.trunk)
    }

    fn event(&mut self, event: EventKind) {
        let at = self.at;
        let turn = |what| at.turn(what);
        match event {
            EventKind::UserSpoke { content, .. } => {
                if !content.trim().is_empty() {
                    self.level().turns.push(turn(TurnContent::User { content }));
                }
            }
            EventKind::UserActed { tool_calls, .. } => self.level().called(at, Caller::User, tool_calls),
            EventKind::AgentSpoke { content, reasoning, tool_calls, .. } => {
                let level = self.level();
                level.turns.extend(spoken(content, reasoning).map(turn));
                level.called(at, Caller::Agent, tool_calls);
            }
            EventKind::Delegated { call_id, .. } => self.branches.push(Level { call_id, ..Level::default() }),
            EventKind::ToolAnswered { call_id, tool, content, answer, patch, fault, note, .. } => {
                self.join(&call_id);
                let content = json_text::layout(&content);
                self.level().answered(at, &call_id, tool, CallAnswer { answer, content, patch, fault, note });
            }
            EventKind::Refused { role, reply, reason, .. } => {
                self.level().turns.push(turn(TurnContent::Refused { role, reply, reason }));
            }
            EventKind::Ended { ending } => {
                self.join_all();
                self.trunk.turns.push(turn(TurnContent::Ending(ending)));
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
            call.1.branch = Some(ended.turns);
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
    fn called(&mut self, at: CurrentEvent, by: Caller, calls: Vec<ToolCall>) {
        for call in calls {
            let (tool, arguments) = (call.name().to_owned(), json_text::layout(&call.function.arguments));
            self.calls.insert(call.id, self.turns.len());
            let what = TurnContent::Call(Call { by, tool, arguments, branch: None, answered: None });
            self.turns.push(at.turn(what));
        }
    }

    /// A call, and the event that its turn shows.
    fn call(&mut self, id: &str) -> Option<(&mut u32, &mut Call)> {
        match self.turns.get_mut(*self.calls.get(id)?) {
            Some(Turn { seq, what: TurnContent::Call(call), .. }) => Some((seq, call)),
            _ => None,
        }
    }

    fn answered(&mut self, at: CurrentEvent, id: &str, tool: String, answered: CallAnswer) {
        if let Some((seq, call)) = self.call(id) {
            *seq = at.seq;
            call.answered = Some(answered);
        } else {
            // An answer to a call that is not here is still shown: nothing that happened is hidden.
            let (by, arguments, answered) = (Caller::Agent, String::new(), Some(answered));
            let what = TurnContent::Call(Call { by, tool, arguments, branch: None, answered });
            self.turns.push(at.turn(what));
        }
    }
}

/// An agent that only calls tools says nothing, and gets no empty bubble.
fn spoken(content: String, reasoning: Option<String>) -> Option<TurnContent> {
    let reasoning = reasoning.filter(|text| !text.trim().is_empty());
    let silent = content.trim().is_empty() && reasoning.is_none();
    (!silent).then_some(TurnContent::Agent { content, reasoning })
}

#[cfg(test)]
mod tests;
