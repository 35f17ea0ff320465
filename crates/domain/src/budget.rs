//! Caps of a run: at any of them it is paused.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a run may spend; an absent field means no cap. Calls that are in flight when a cap is reached are completed, so
/// a run may go slightly over it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Tokens, read and written, of all models together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<i64>,
    /// In the unit of the models' prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<f64>,
    /// Conversations that are begun; attempts that are played again do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversations: Option<i32>,
    /// Seconds of playing since the first conversation began; pauses do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<i64>,
}

impl Budget {
    /// Money as it is counted: in billionths, so that a single token is not lost.
    pub fn money_in_billionths(&self) -> Option<i64> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a cap beyond what can be counted is no cap, and saturates"
        )]
        self.money.map(|money| (money * 1e9).round() as i64)
    }

    /// What is wrong with it, field by field.
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        let mut positive = |field, wrong: bool| {
            if wrong {
                problems.push((field, "must be more than 0".to_owned()));
            }
        };
        positive("tokens", self.tokens.is_some_and(|n| n <= 0));
        positive("money", self.money.is_some_and(|n| !n.is_finite() || n <= 0.0));
        positive("conversations", self.conversations.is_some_and(|n| n <= 0));
        positive("seconds", self.seconds.is_some_and(|n| n <= 0));
        problems
    }
}
