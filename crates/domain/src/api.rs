//! What the REST API answers and the web app reads: what several subjects share, conversations, models and judgings. Other
//! subjects have files of their own.

mod access;
mod conversations;
pub mod documents;
pub mod probe;
mod reviews;
mod runs;
pub mod trials;
pub mod workers;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

pub use access::*;
pub use reviews::*;
pub use runs::*;

use crate::event::Event;
use crate::outcome::Outcome;
use crate::problem::Problem;
use crate::verdict::{Verdict, Verification};
pub use conversations::{
    BranchOrigin, BranchSummary, CONVERSATION_FILTER, ConversationFacets, CorpusAnalytics, Cost, Facet, FacetValue,
    Neighbours, RunAnalytics, RunComparison,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Pass as `?after=` to get the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConversationSummary {
    pub id: String,
    #[serde(default)]
    pub run_id: String,
    /// Place in its run, from 0.
    pub position: i32,
    pub scenario: String,
    pub persona: String,
    pub complexity: String,
    /// Absent while it is being played.
    pub outcome: Option<Outcome>,
    /// The judge's overall score, 0 to 10.
    pub overall: Option<i16>,
    /// Scores by criterion, 0 to 10.
    #[serde(default)]
    pub scores: BTreeMap<String, u8>,
    #[serde(default)]
    pub weighted_mean: Option<f32>,
    /// How far a panel of judges agrees, 0 to 1.
    #[serde(default)]
    pub agreement: Option<f32>,
    #[serde(default)]
    pub goal_achieved: Option<bool>,
    /// Whether the verifier found nothing wrong.
    #[serde(default)]
    pub verified: Option<bool>,
    /// How it came to its end: `user_ended`, `walked_out`, `terminal`, `turn_limit`, `step_limit`.
    #[serde(default)]
    pub ending: Option<String>,
    /// Turns of the user.
    #[serde(default)]
    pub turns: Option<i32>,
    /// Calls by the agent and its sub-agents, and the tools that they called.
    #[serde(default)]
    pub tool_calls: Option<i32>,
    #[serde(default)]
    pub tools: Vec<String>,
    #[serde(default)]
    pub finished_at: Option<DateTime<Utc>>,
    /// Events so far.
    pub events: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConversationDetail {
    pub summary: ConversationSummary,
    pub run_id: String,
    /// As it stands in URLs.
    pub project: String,
    /// Absent unless it is a branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_of: Option<BranchOrigin>,
    /// Role -> model. `scripted` is no model, and says so.
    pub models: BTreeMap<String, String>,
    pub events: Vec<Event>,
    pub verdict: Option<Verdict>,
    pub verification: Option<Verification>,
}

/// The world of a conversation as it was after so many changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorldVersion {
    pub version: u32,
    pub last_version: u32,
    /// SHA-256 of the canonical JSON: keys sorted, numbers in one form.
    pub hash: String,
    pub world: Value,
}

/// Where a value of the last version comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Provenance {
    /// JSON pointer (RFC 6901).
    pub pointer: String,
    pub value: Value,
    /// Absent if it stood there from the start.
    pub written_by: Option<Writer>,
}

/// A call that changed the world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Writer {
    /// The event of its answer.
    pub seq: u32,
    pub call_id: String,
    pub tool: String,
}

/// RFC 9457 problem document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProblemDetails {
    /// Always `about:blank`: the status says what kind of problem it is.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub status: u16,
    /// For people: what is wrong, and what to do.
    pub detail: String,
    /// Each place that is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
}

/// One thing that is wrong with what was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldError {
    /// JSON pointer (RFC 6901) into the body, or into the document; empty for the whole.
    pub pointer: String,
    pub detail: String,
    /// The parameter of the query string, if it is about one and not about the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// The document, if several were looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line of the document, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

impl FieldError {
    pub fn at(pointer: &str, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.to_owned(), detail: detail.into(), parameter: None, file: None, line: None }
    }

    /// What is wrong with a parameter of the query string.
    pub fn parameter(name: &str, detail: impl Into<String>) -> Self {
        Self { parameter: Some(name.to_owned()), ..Self::at("", detail) }
    }
}

/// Problems name fields by paths, `tools[2].simulate`; here they are pointers, `/tools/2/simulate`.
impl From<Problem> for FieldError {
    fn from(problem: Problem) -> Self {
        let parts =
            problem.field.split(['.', '[']).map(|part| part.trim_end_matches(']')).filter(|part| !part.is_empty());
        Self {
            pointer: parts.map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect(),
            detail: problem.message,
            parameter: None,
            file: Some(problem.file).filter(|file| !file.is_empty()),
            line: Some(problem.line).filter(|line| *line > 0),
        }
    }
}

/// A model of the registry, and how its endpoints do as this server sees them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelSummary {
    pub name: String,
    /// How its endpoints call it.
    pub model: String,
    /// Environment variable that holds the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// File that holds the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_file: Option<String>,
    /// Whether this server finds the key there.
    pub key_found: bool,
    /// Money for a million tokens, read and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<u32>,
    /// Requests that one endpoint is given at once in the beginning.
    pub start_in_flight: u32,
    /// A first byte that comes later than this, in seconds, says that the endpoint has too much to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_after_seconds: Option<f64>,
    /// It stands in models.yaml and is changed there.
    pub from_file: bool,
    /// Calls that wait for a slot.
    pub waiting: usize,
    /// Whether workers may join that serve it.
    #[serde(default)]
    pub workers: bool,
    pub replicas: Vec<ReplicaSummary>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReplicaSummary {
    pub url: String,
    /// Null until it was asked.
    pub health: Value,
    pub in_flight: u32,
    /// Most requests that it is given at once, for now.
    pub limit: u32,
    pub ok: u64,
    pub failed: u64,
    /// Moving average of the time to the first byte, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_ms: Option<f64>,
    /// A worker brought it.
    #[serde(default)]
    pub worker: bool,
}

/// One way in which a run was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JudgingSummary {
    pub id: String,
    pub run_id: String,
    /// Who judges; more than one are a panel.
    pub models: Vec<String>,
    /// The run's own, made while it was played.
    pub original: bool,
    /// running, finished, cancelled or failed
    pub state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    /// Verdicts so far, and conversations to judge.
    pub judged: i64,
    pub conversations: i64,
}

/// What one judging says of one conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct VerdictSummary {
    pub judging_id: String,
    pub conversation_id: String,
    pub position: i32,
    pub judge: String,
    /// Of the judge's criteria and its prompt.
    pub judge_version: String,
    /// Who judged.
    pub models: Vec<String>,
    /// Absent if the judge failed; the outcome then blames it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    pub outcome: Outcome,
    pub created_at: DateTime<Utc>,
}
