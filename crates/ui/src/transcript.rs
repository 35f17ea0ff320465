//! A conversation as a reader sees it, in order: who spoke, what was called, what was refused, how it ended.

use std::collections::{BTreeMap, HashMap};

use domain::event::{Answer, Event};
use domain::fault::FaultKind;
use domain::message::{Message, ToolCall};
use domain::outcome::Ending;
use domain::patch::Patch;
use domain::role::Role;
use domain::transcript::{self, Frame, Transcript};

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
    #[must_use]
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
    /// The steps of the sub-agent that answered it.
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
    /// The fault that was planned for it.
    pub fault: Option<FaultKind>,
    /// Why nobody could answer.
    pub note: Option<String>,
}

/// Calls stand where they were made, each with its answer, whenever that came; what a sub-agent did stands within the
/// call that started it.
pub fn turns(events: Vec<Event>) -> Vec<Turn> {
    let whose = events.iter().filter_map(|event| Some((event.seq, event.whose_turn()?))).collect();
    let transcript: Transcript = events.into_iter().collect();
    let answers = transcript.calls.iter().map(|call| (call.id.as_str(), call)).collect();
    Layout { transcript: &transcript, sub_agents: transcript.sub_agents(), answers, whose }.trunk()
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

/// Puts the parts of a transcript in the order in which they are read.
struct Layout<'a> {
    transcript: &'a Transcript,
    sub_agents: Vec<&'a Frame>,
    /// By the id of the call.
    answers: HashMap<&'a str, &'a transcript::Call>,
    /// Events in whose place the conversation can go on differently.
    whose: BTreeMap<u32, Role>,
}

impl Layout<'_> {
    fn trunk(&self) -> Vec<Turn> {
        let mut turns = self.of_agent(self.transcript.agent());
        for (seq, message) in self.transcript.user.entries() {
            turns.extend(calls(message).iter().map(|call| self.call(seq, Caller::User, call)));
        }
        // An answer to a call that nobody made is still shown: nothing that happened is hidden.
        let stray = self.transcript.calls.iter().filter(|call| call.turn == 0);
        turns.extend(stray.map(|call| {
            let (tool, arguments, answered) = (call.tool.clone(), String::new(), Some(answered(call)));
            self.turn(call.seq, TurnContent::Call(Call { by: Caller::Agent, tool, arguments, branch: None, answered }))
        }));
        let end = self.transcript.end.iter();
        turns.extend(end.map(|end| self.turn(end.seq, TurnContent::Ending(end.ending.clone()))));
        turns.sort_by_key(|turn| turn.of);
        turns
    }

    /// The steps of an agent. The task of a sub-agent stands in its call.
    fn of_agent(&self, frame: &Frame) -> Vec<Turn> {
        let mut turns = Vec::new();
        for (seq, message) in frame.entries() {
            match message {
                Message::User { content }
                    if frame.caller == transcript::Caller::Agent && !content.trim().is_empty() =>
                {
                    turns.push(self.turn(seq, TurnContent::User { content: content.clone() }));
                }
                Message::Assistant { content, reasoning_content, .. } => {
                    turns.extend(spoken(content, reasoning_content.as_deref()).map(|what| self.turn(seq, what)));
                    turns.extend(calls(message).iter().map(|call| self.call(seq, Caller::Agent, call)));
                }
                Message::System { .. } | Message::User { .. } | Message::Tool { .. } => {}
            }
        }
        let refused = self.transcript.refusals.iter().filter(|refusal| refusal.path == frame.path);
        turns.extend(refused.map(|refusal| {
            let (role, reply, reason) = (refusal.role, refusal.reply.clone(), refusal.reason.clone());
            self.turn(refusal.seq, TurnContent::Refused { role, reply, reason })
        }));
        // Calls of one turn stay in their order.
        turns.sort_by_key(|turn| turn.of);
        turns
    }

    fn call(&self, seq: u32, by: Caller, call: &ToolCall) -> Turn {
        let answer = self.answers.get(call.id.as_str());
        let branch = self.sub_agents.iter().find(|frame| frame.was_started_by(&call.id));
        let what = TurnContent::Call(Call {
            by,
            tool: call.name().to_owned(),
            arguments: json_text::layout(&call.function.arguments),
            branch: branch.map(|frame| self.of_agent(frame)),
            answered: answer.map(|call| answered(call)),
        });
        Turn { seq: answer.map_or(seq, |answer| answer.seq), ..self.turn(seq, what) }
    }

    fn turn(&self, seq: u32, what: TurnContent) -> Turn {
        Turn { seq, of: seq, whose: self.whose.get(&seq).copied(), what }
    }
}

fn calls(message: &Message) -> &[ToolCall] {
    match message {
        Message::Assistant { tool_calls, .. } => tool_calls,
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => &[],
    }
}

fn answered(call: &transcript::Call) -> CallAnswer {
    CallAnswer {
        answer: call.answer,
        content: json_text::layout(&call.content),
        patch: call.patch.clone(),
        fault: call.fault,
        note: call.note.clone(),
    }
}

/// An agent that only calls tools says nothing, and gets no empty bubble.
fn spoken(content: &str, reasoning: Option<&str>) -> Option<TurnContent> {
    let reasoning = reasoning.filter(|text| !text.trim().is_empty()).map(str::to_owned);
    let silent = content.trim().is_empty() && reasoning.is_none();
    (!silent).then(|| TurnContent::Agent { content: content.to_owned(), reasoning })
}

#[cfg(test)]
mod tests;
