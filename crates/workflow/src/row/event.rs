//! The events of a row. Answers are kept, and nothing that follows from them: steps of the program come out the same again.

use domain::chat::ChatReply;
use domain::event::Usage;
use domain::message::ToolCall;
use domain::task::Resolution;
use domain::timing::RequestTiming;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Responder;
use super::items::OutputItem;
use crate::address;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowEvent {
    pub seq: u32,
    pub event: RowEventKind,
    /// Of an answer: when it was asked for and given. Nothing follows from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<RequestTiming>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowEventKind {
    Started,
    /// A model replied.
    Replied(Reply),
    /// Its reply came to no end.
    CutOff(Reply),
    /// No model answered.
    Lost {
        at: Place,
        reason: String,
    },
    /// An index answered.
    Found {
        at: Place,
        passages: Value,
    },
    /// A part of the output became known. Only where somebody waits for it.
    Item(OutputItem),
    /// A tool answered, `{value}` or `{error}`; or a service, `{value}` or `{refused}`.
    Called {
        at: Place,
        answer: Value,
    },
    Ended(RowOutcome),
}

/// How a row ended, and what it became.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RowOutcome {
    /// `finished`, the name of an `end`, or what went wrong.
    pub name: String,
    pub success: bool,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Map<String, Value>>,
    /// Figures of the document over the row, as far as they could be computed.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metrics: Map<String, Value>,
}

/// The request that was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// As in `checked[3].found[0].docs`.
    pub step: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sample: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempt: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(n: &u32) -> bool {
    *n == 0
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    pub at: Place,
    pub content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    pub usage: Usage,
    /// Why it came to no end.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl Reply {
    fn new(at: Place, reply: ChatReply, reason: String) -> Self {
        let ChatReply { content, reasoning, tool_calls, usage, .. } = reply;
        Self { at, content, reasoning, tool_calls, usage, reason }
    }

    fn chat(&self) -> ChatReply {
        ChatReply {
            content: self.content.clone(),
            reasoning: self.reasoning.clone(),
            tool_calls: self.tool_calls.clone(),
            usage: self.usage,
            sampling: None,
        }
    }
}

impl RowEventKind {
    pub(super) fn of(to: &Responder, at: Place, resolution: Resolution) -> Self {
        match resolution {
            Resolution::Reply(reply) => Self::Replied(Reply::new(at, reply, String::new())),
            Resolution::Unusable { reply, reason } => Self::CutOff(Reply::new(at, reply, reason)),
            Resolution::Lost { reason } => Self::Lost { at, reason },
            Resolution::Message(answer) if matches!(to, Responder::Tool(_) | Responder::Service(_)) => {
                Self::Called { at, answer }
            }
            Resolution::Message(passages) => Self::Found { at, passages },
        }
    }
}

impl RowEvent {
    pub const fn is_answer(&self) -> bool {
        !matches!(self.event, RowEventKind::Started | RowEventKind::Item(_) | RowEventKind::Ended(_))
    }

    /// The request that it answers, and the answer.
    pub(super) fn answer(&self) -> Option<(u64, Resolution)> {
        let (at, resolution) = match &self.event {
            RowEventKind::Replied(reply) => (&reply.at, Resolution::Reply(reply.chat())),
            RowEventKind::CutOff(reply) => {
                (&reply.at, Resolution::Unusable { reply: reply.chat(), reason: reply.reason.clone() })
            }
            RowEventKind::Lost { at, reason } => (at, Resolution::Lost { reason: reason.clone() }),
            RowEventKind::Found { at, passages } => (at, Resolution::Message(passages.clone())),
            RowEventKind::Called { at, answer } => (at, Resolution::Message(answer.clone())),
            RowEventKind::Started | RowEventKind::Item(_) | RowEventKind::Ended(_) => return None,
        };
        Some((address::request_id(&at.step, at.sample, at.attempt), resolution))
    }
}
