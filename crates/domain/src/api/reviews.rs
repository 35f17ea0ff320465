//! Queues of conversations that people are to rate, and who has what of them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

/// Largest queue: more than people rate, and few enough to look through whenever somebody takes the next one.
pub const LARGEST_QUEUE: usize = 10_000;

/// A list of conversations for people to rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewQueue {
    pub id: String,
    pub name: String,
    pub instructions: String,
    /// How many people rate each conversation, 1 to 10.
    pub raters_each: u8,
    /// The judging over whose scores the conversations were spread; absent: the runs' own judgings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judging: Option<String>,
    /// Raters see neither the judge's scores nor other people's ratings of a conversation before they have rated it.
    pub blind: bool,
    pub state: QueueState,
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    pub progress: QueueProgress,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewQueue {
    /// 1 to 200 letters; no other queue of the project may have this name.
    pub name: String,
    /// What raters are told.
    #[serde(default)]
    pub instructions: String,
    /// How many people rate each conversation, 1 to 10; default: 1.
    #[serde(default = "one")]
    #[schema(minimum = 1, maximum = 10)]
    pub raters_each: u8,
    /// Default: true.
    #[serde(default = "yes")]
    pub blind: bool,
    /// These conversations, in this order, at most 10000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Uuid>>)]
    pub conversations: Option<Vec<String>>,
    /// Conversations of this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Uuid>)]
    pub run: Option<String>,
    /// With `run`: the judging over whose scores they are spread; default: the run's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Uuid>)]
    pub judging: Option<String>,
    /// Conversations of this corpus.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Uuid>)]
    pub corpus: Option<String>,
    /// How many conversations of the run (default: 50) or of the corpus (default: all).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 10000)]
    pub n: Option<u32>,
}

const fn one() -> u8 {
    1
}

const fn yes() -> bool {
    true
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueChange {
    /// A closed queue gives out no conversations; those that were given out can still be rated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<QueueState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum QueueState {
    /// Raters may take conversations from it.
    Open,
    /// No more conversations are given out.
    Closed,
}

/// Progress of a queue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueueProgress {
    /// Conversations.
    pub items: i64,
    /// Conversations that enough people have rated.
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
    /// Empty if a file of ratings named nobody.
    pub rater: String,
    pub done: i64,
    pub skipped: i64,
    pub assigned: i64,
}

/// A conversation of a queue and its raters.
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
    /// Who gave it to the rater; absent: they took it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned_by: Option<String>,
    pub assigned_at: DateTime<Utc>,
    /// From this time on others may take it. Absent: it is theirs until they have rated it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum AssignmentState {
    Assigned,
    Done,
    Skipped,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAssignment {
    /// A member who may rate: author, runner or admin.
    pub rater: String,
}

/// The next conversation for a rater.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NextReview {
    /// How many conversations this rater could get, including this one.
    pub left: i64,
    /// Absent if nothing is left for this rater.
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
    /// From this time on others may take it, unless it was rated. Absent: it was given to this rater by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
}
