//! The canonical row of one conversation.

use domain::event::{Event, EventKind};
use domain::message::Message;
use domain::row::Row;
use engine::Conversation;

use super::metadata;
use crate::jobs::plan::RunConfig;
use crate::library::Library;
use crate::store::conversations::Planned;
use crate::store::runs::Run;

pub struct Source<'a> {
    pub run: &'a Run,
    pub config: &'a RunConfig,
    pub library: &'a Library,
    pub planned: &'a Planned,
    pub conversation: &'a Conversation,
    pub events: &'a [Event],
}

/// # Errors
/// Why no trainer could use the conversation.
pub fn row(source: &Source<'_>) -> Result<Row, String> {
    let malformed = source.events.iter().find_map(|e| match &e.kind {
        EventKind::ToolAnswered { tool, answer, .. } if answer.malformed() => Some(tool),
        _ => None,
    });
    if let Some(tool) = malformed {
        return Err(format!("the agent made a call that `{tool}` does not accept"));
    }
    let mut messages = source.conversation.transcript();
    // What the user says after the agent's last turn teaches nothing, and trainers want the last word to be the agent's.
    while matches!(messages.last(), Some(Message::User { .. })) {
        messages.pop();
    }
    let tools = source.conversation.case().playbook.functions();
    let metadata = serde_json::to_value(metadata::metadata(source)).map_err(|e| e.to_string())?;
    let row = Row { messages, tools, metadata };
    row.fault().map_or(Ok(row), Err)
}
