//! What people say of conversations, and how far they agree.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::calibration::InterRater;
use crate::verdict::Verdict;

/// One person's rating of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HumanRating {
    /// Empty if a file of ratings named nobody.
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
    /// Whether a blind queue is open: other people's ratings and the judge's scores are shown once you have rated it.
    pub blind: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mine: Option<HumanRating>,
    /// Your earlier ratings, the newest first.
    pub earlier: Vec<HumanRating>,
    /// Other people's ratings.
    pub others: Vec<HumanRating>,
    /// The verdict that was given while the run was played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRating {
    /// By criterion of the conversation's judge, or `overall`: whole numbers, 0 to 10.
    #[serde(default)]
    pub scores: BTreeMap<String, i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal_achieved: Option<bool>,
    /// At most 4000 letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// How far people agree with each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReviewAgreement {
    /// Conversations that somebody rated.
    pub conversations: u32,
    pub raters: u32,
    /// Criteria that at least two people rated in the same conversation.
    pub criteria: Vec<InterRater>,
}

/// Selects disagreements, and a page of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct DisagreementParams {
    /// Length of the page, 1 to 200; default: 50.
    #[param(minimum = 1, maximum = 200)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u16>,
    /// `next` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Only disagreements on this criterion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub criterion: Option<String>,
    /// Only ratings that are at least this many points apart; default: 1.
    #[param(minimum = 1, maximum = 10)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<u8>,
}
