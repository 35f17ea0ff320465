//! What the REST API answers and the web app reads.

mod conversations;
pub mod documents;
pub mod probe;
mod reviews;
pub mod trials;
pub mod workers;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

pub use reviews::*;

use crate::access::{Role, Scope};
use crate::budget::Budget;
use crate::event::Event;
use crate::outcome::Outcome;
use crate::problem::Problem;
use crate::verdict::{Verdict, Verification};
pub use conversations::{
    BranchSummary, ConversationFacets, CorpusAnalytics, Cost, Facet, FacetValue, Neighbours, RunAnalytics,
    RunComparison,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunSummary {
    pub id: String,
    pub playbook: String,
    pub seed: i64,
    pub created_at: DateTime<Utc>,
    pub planned: i64,
    pub finished: i64,
    pub accepted: i64,
    /// Failures by who is to blame.
    pub failures: BTreeMap<String, i64>,
    /// Attempts that somebody else than the agent spoiled, by who is to blame. They were played again and count nowhere
    /// else.
    #[serde(default)]
    pub played_again: BTreeMap<String, i64>,
    pub state: RunState,
    /// Why it was paused, if not by a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_because: Option<String>,
    /// Runs of higher priority are played first.
    pub priority: i32,
    /// When its first conversation was claimed, and when its last one ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<DateTime<Utc>>,
    /// What was asked of models, by role and model.
    #[serde(default)]
    pub usage: Vec<UsageSummary>,
}

/// What decides how a run is played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunTerms {
    /// Hash of the documents that it was started with.
    pub library: String,
    /// Conversations at once, all players together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<i32>,
    pub budget: Budget,
    /// Models, temperatures, scenarios, personas and the rest of its order.
    pub config: Value,
}

/// What becomes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It is played by whoever has time.
    Running,
    /// Nothing is asked until it is resumed.
    Paused,
    /// Every conversation has ended.
    Finished,
    /// It was ended for good before that.
    Cancelled,
}

impl RunState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Finished => "finished",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What one model was asked in one role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UsageSummary {
    pub role: String,
    pub model: String,
    /// Replies, lost ones among them.
    pub calls: i64,
    /// Requests beyond the first of each call.
    pub retries: i64,
    pub prompt_tokens: i64,
    /// Of the prompts, what a prefix cache held; 0 also where the endpoint does not say.
    #[serde(default)]
    pub cached_tokens: i64,
    pub completion_tokens: i64,
    /// In the unit of the model's prices.
    pub cost: f64,
}

impl UsageSummary {
    /// The share of what it read that a prefix cache held, 0 to 1; None if its endpoint tells of none.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub fn cache_hits(&self) -> Option<f64> {
        (self.cached_tokens > 0).then(|| self.cached_tokens as f64 / self.prompt_tokens.max(self.cached_tokens) as f64)
    }
}

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
    /// The document, if several were looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line of the document, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

impl FieldError {
    pub fn at(pointer: &str, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.to_owned(), detail: detail.into(), file: None, line: None }
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
            file: Some(problem.file).filter(|file| !file.is_empty()),
            line: Some(problem.line).filter(|line| *line > 0),
        }
    }
}

/// Who is signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionDetail {
    pub name: String,
    /// May do everything everywhere.
    pub administrator: bool,
    pub projects: Vec<ProjectRole>,
    /// To be sent as X-CSRF-Token with each change. Only in sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csrf_token: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProjectRole {
    pub project: String,
    pub title: String,
    pub role: Role,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProjectSummary {
    /// In URLs.
    pub name: String,
    pub title: String,
    pub created_at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MemberSummary {
    pub user: String,
    pub role: Role,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UserSummary {
    pub name: String,
    pub administrator: bool,
    pub disabled: bool,
    /// Has not chosen a password yet.
    pub invited: bool,
    pub created_at: DateTime<Utc>,
}

/// For whom a one-time link is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Invited {
    /// Absent: for the first administrator, who chooses a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A one-time link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Invitation {
    pub user: String,
    pub secret: String,
    /// Where it is opened, on this server.
    pub path: String,
    pub expires_at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenSummary {
    pub id: String,
    pub name: String,
    pub scopes: Vec<Scope>,
    /// Absent: all projects of whoever made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub created_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// To the minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewTokenAnswer {
    /// Shown this once.
    pub secret: String,
    pub token: TokenSummary,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditEntry {
    pub id: i64,
    pub at: DateTime<Utc>,
    /// Who; empty: a command on the machine itself.
    pub actor: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Method and path of the operation, or the command.
    pub action: String,
    /// What was changed.
    pub subject: String,
    pub detail: Value,
}

/// A model of the registry, and how its endpoints do as this server sees them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelSummary {
    pub name: String,
    /// How its endpoints call it.
    pub model: String,
    /// Environment variable that holds the key, and whether this server has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    pub key_found: bool,
    /// Money for a million tokens, read and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<u32>,
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

/// A process that plays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlayerSummary {
    pub id: i64,
    pub host: String,
    pub pid: i32,
    pub started_at: DateTime<Utc>,
    pub heartbeat_at: DateTime<Utc>,
    /// Positions of runs that it holds.
    pub claimed: i64,
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
