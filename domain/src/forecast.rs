//! What a whole run will take, from what was played of it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::RunSummary;

/// The name by which the program's own model goes: it costs nothing.
const SCRIPTED: &str = "scripted";
/// Two-sided 95 % of the normal distribution.
const Z: f64 = 1.96;

/// Estimates for a whole run; every number is a mean over what was played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Forecast {
    /// Conversations that the forecast is made from, and those of the whole run.
    pub finished: i64,
    pub planned: i64,
    /// Share that is accepted, 0 to 1, and the Wilson score interval around it at 95 % confidence (Wilson 1927).
    pub accepted_share: f64,
    pub accepted_share_low: f64,
    pub accepted_share_high: f64,
    pub accepted_rows: f64,
    /// Read and written, of all models.
    pub tokens: f64,
    pub tokens_per_conversation: f64,
    /// Absent while nothing was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_per_accepted_row: Option<f64>,
    /// In the unit of the models' prices.
    pub cost: f64,
    pub cost_per_conversation: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_per_accepted_row: Option<f64>,
    /// At the pace so far; more conversations at once take less.
    pub seconds: f64,
}

impl Forecast {
    /// `seconds`: how long what was played took. `None` if nothing has ended yet.
    #[expect(clippy::cast_precision_loss, reason = "estimates")]
    pub fn of(run: &RunSummary, seconds: f64) -> Option<Self> {
        if run.finished == 0 {
            return None;
        }
        let (played, planned) = (run.finished as f64, run.planned as f64);
        let share = run.accepted as f64 / played;
        let models = run.usage.iter().filter(|usage| usage.model != SCRIPTED);
        let (tokens, cost) = models.fold((0, 0.0), |(tokens, cost), usage| {
            (tokens + usage.prompt_tokens + usage.completion_tokens, cost + usage.cost)
        });
        let (tokens, cost) = (tokens as f64 / played, cost / played);
        let each_row = |each: f64| (share > 0.0).then(|| each / share);
        let (low, high) = wilson(run.accepted, run.finished);
        Some(Self {
            finished: run.finished,
            planned: run.planned,
            accepted_share: share,
            accepted_share_low: low,
            accepted_share_high: high,
            accepted_rows: share * planned,
            tokens: tokens * planned,
            tokens_per_conversation: tokens,
            tokens_per_accepted_row: each_row(tokens),
            cost: cost * planned,
            cost_per_conversation: cost,
            cost_per_accepted_row: each_row(cost),
            seconds: seconds / played * planned,
        })
    }
}

/// The Wilson score interval of a share at 95 % confidence.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn wilson(of: i64, all: i64) -> (f64, f64) {
    let n = all.max(1) as f64;
    let p = of as f64 / n;
    let centre = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    ((centre - half).max(0.0), (centre + half).min(1.0))
}
