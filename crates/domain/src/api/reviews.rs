//! What people say of conversations: queues, ratings, annotations, corrections, and what follows of it.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{ConversationDetail, ConversationSummary};
use crate::calibration::{CalibrationReport, InterRater};
use crate::correction::Correction;
use crate::event::Fork;
use crate::message::Message;
use crate::verdict::Verdict;

/// Largest queue: more than people rate, and few enough to look through whenever somebody takes the next one.
pub const LARGEST_QUEUE: usize = 10_000;

/// Conversations that people are to rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewQueue {
    pub id: String,
    pub name: String,
    pub instructions: String,
    /// By how many people each conversation is to be rated, 1 to 10.
    pub raters_each: u8,
    /// Whose scores the conversations were spread over; absent: those of their runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judging: Option<String>,
    /// Whoever may be given one of its conversations sees neither the judge's scores nor other people's before they have
    /// rated it.
    pub blind: bool,
    pub state: QueueState,
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    pub progress: QueueProgress,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueueState {
    /// Raters may take what is in it.
    Open,
    /// Nothing more is given out.
    Closed,
}

impl QueueState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }
}

/// How far a queue is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueueProgress {
    /// Conversations.
    pub items: i64,
    /// Of those, rated by as many as are asked for.
    pub complete: i64,
    /// Ratings.
    pub done: i64,
    pub skipped: i64,
    /// Given out and not rated yet.
    pub assigned: i64,
    pub raters: Vec<RaterProgress>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RaterProgress {
    /// Empty: a file of ratings that named nobody.
    pub rater: String,
    pub done: i64,
    pub skipped: i64,
    pub assigned: i64,
}

/// A conversation of a queue, and who has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewItem {
    pub conversation: String,
    /// Place in the queue, from 0.
    pub ordinal: i32,
    pub assignments: Vec<ReviewAssignment>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewAssignment {
    pub rater: String,
    pub state: AssignmentState,
    /// Who gave it to them; absent: they took it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned_by: Option<String>,
    pub assigned_at: DateTime<Utc>,
    /// From then on others may have it. Absent: it is theirs until they have done it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AssignmentState {
    Assigned,
    Done,
    Skipped,
}

impl AssignmentState {
    pub const ALL: [Self; 3] = [Self::Assigned, Self::Done, Self::Skipped];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Assigned => "assigned",
            Self::Done => "done",
            Self::Skipped => "skipped",
        }
    }
}

/// What a rater gets when they ask for the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NextReview {
    /// How many this rater could be given, this one counted.
    pub left: i64,
    /// Absent: there is nothing left for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<ReviewTask>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewTask {
    pub conversation: String,
    pub ordinal: i32,
    pub instructions: String,
    /// What may be rated, `overall` last.
    pub criteria: Vec<String>,
    pub blind: bool,
    /// From then on others may have it, unless it was rated. Absent: it was given to this rater by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
}

/// What one person says of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HumanRating {
    /// Empty: a file that named nobody.
    pub rater: String,
    /// By criterion, `overall` included, 0 to 10.
    pub scores: BTreeMap<String, u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal_achieved: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    pub created_at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConversationRatings {
    /// What may be rated, `overall` last.
    pub criteria: Vec<String>,
    /// A blind queue is open: other people's ratings and the judge's scores are shown once you have rated it.
    pub blind: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mine: Option<HumanRating>,
    /// What you said earlier, the newest first.
    pub earlier: Vec<HumanRating>,
    /// Other people's.
    pub others: Vec<HumanRating>,
    /// What the judge said while the run was played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// How far people agree with each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReviewAgreement {
    /// Conversations that somebody rated.
    pub conversations: u32,
    pub raters: u32,
    /// What at least two people rated in the same conversation.
    pub criteria: Vec<InterRater>,
}

impl ConversationDetail {
    /// Without what judges said, and what follows of it: for whoever is to rate it by themselves.
    #[must_use]
    pub fn unjudged(mut self) -> Self {
        self.events.retain(|event| !event.is_judgement());
        self.summary.events = i64::try_from(self.events.len()).unwrap_or(i64::MAX);
        self.verdict = None;
        self.summary.unjudge();
        self
    }
}

impl ConversationSummary {
    /// Leaves out what judges said, and what follows of it.
    pub fn unjudge(&mut self) {
        (self.outcome, self.overall, self.weighted_mean) = (None, None, None);
        (self.agreement, self.goal_achieved) = (None, None);
        self.scores.clear();
    }
}

/// A remark on a step of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Annotation {
    pub id: String,
    pub conversation: String,
    /// The event.
    pub seq: u32,
    pub text: String,
    pub labels: Vec<String>,
    pub author: String,
    pub created_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<DateTime<Utc>>,
}

/// A conversation as people corrected it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CorrectedConversation {
    /// 0 is what was played.
    pub version: u32,
    pub last_version: u32,
    /// All versions, the first one first.
    pub corrections: Vec<Correction>,
    /// The agent under test, then each sub-agent.
    pub agents: Vec<CorrectedAgent>,
    /// What was not done again after a turn was corrected.
    pub not_rechecked: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CorrectedAgent {
    /// The tool that it is; empty: the agent under test.
    pub sub_agent: String,
    /// Its place among the fan-outs.
    pub path: Vec<Fork>,
    pub messages: Vec<CorrectedMessage>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CorrectedMessage {
    /// The event.
    pub seq: u32,
    pub message: Message,
    /// The version that made it read so; absent: it reads as it was played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected_by: Option<u32>,
    /// By part (`content`, `reasoning`, `tool_calls`): how it came from what was played. Parts that are as they were are
    /// not there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub diff: BTreeMap<String, Vec<DiffPiece>>,
}

/// A piece of text. What is equal or inserted makes the corrected text, what is equal or deleted the original.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiffPiece {
    pub kind: DiffKind,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiffKind {
    Equal,
    Delete,
    Insert,
}

/// How far a judge agrees with people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CalibrationDetail {
    pub id: String,
    pub judge: String,
    /// Versions of the judge that were compared; others are not corrected by it.
    pub judge_versions: Vec<String>,
    /// Who judged, by name.
    pub models: Value,
    /// Whose verdicts were compared; absent of those from before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judging: Option<String>,
    /// Empty: a command on the machine itself.
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    pub report: CalibrationReport,
}

/// What became of a file of ratings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RatingsKept {
    /// Ratings that were kept.
    pub kept: usize,
    /// Rated conversations that the judging knows nothing of: their ratings were left out.
    pub unknown: Vec<String>,
}
