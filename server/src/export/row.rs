//! The canonical rows of one conversation: the agent's under test, and its sub-agents'.

use std::collections::{BTreeMap, BTreeSet};

use domain::calibration::Correction;
use domain::event::Event;
use domain::message::Message;
use domain::outcome::Outcome;
use domain::row::Row;
use engine::Conversation;
use engine::conversation::{Call, Frame};

use super::metadata;
use crate::jobs::plan::RunConfig;
use crate::library::Library;
use crate::store::conversations::Planned;
use crate::store::runs::Run;
use crate::store::verdicts::Judged;

/// What all rows of an export share.
pub struct Common<'a> {
    pub run: &'a Run,
    pub config: &'a RunConfig,
    pub library: &'a Library,
    /// Who judged.
    pub judges: Vec<String>,
    pub criteria: BTreeSet<String>,
    /// By version of the judge; empty unless corrected scores are asked for.
    pub corrections: BTreeMap<String, Correction>,
}

pub struct Source<'a> {
    pub common: &'a Common<'a>,
    pub planned: &'a Planned,
    pub conversation: &'a Conversation,
    pub events: &'a [Event],
    /// What the judging that counts says; `None` if it was never judged.
    pub judged: Option<&'a Judged>,
    pub outcome: &'a Outcome,
}

/// # Errors
/// Why no trainer could use what this agent did.
pub fn row(source: &Source<'_>, frame: &Frame) -> Result<Row, String> {
    let malformed = |call: &&Call| call.caller == frame.caller && call.answer.malformed();
    if let Some(call) = source.conversation.state().calls.iter().find(malformed) {
        return Err(format!("the agent made a call that `{}` does not accept", call.tool));
    }
    let mut messages = source.conversation.transcript(frame);
    // What the user says after the agent's last turn teaches nothing, and trainers want the last word to be the agent's.
    while matches!(messages.last(), Some(Message::User { .. })) {
        messages.pop();
    }
    let tools = source.conversation.functions(frame);
    let metadata = serde_json::to_value(metadata::metadata(source, frame)).map_err(|e| e.to_string())?;
    let row = Row { messages, tools, metadata };
    row.fault().map_or(Ok(row), Err)
}
