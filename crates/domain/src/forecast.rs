//! What a whole run will take, from what was played of it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::RunSummary;
use crate::budget::Budget;
use crate::spending::Spending;

/// A few conversations or rows of a run that are played first, to say what all would take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pilot {
    /// So many; the run's cap meanwhile.
    pub after: i32,
    /// The cap that was ordered, and counts once the run goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<i32>,
}

impl Pilot {
    /// What is played first of a run with this budget, which then has its cap.
    pub fn within(after: i32, budget: &mut Budget) -> Self {
        let cap = budget.conversations;
        let after = cap.map_or(after, |cap| after.min(cap));
        budget.conversations = Some(after);
        Self { after, cap }
    }
}

/// Two-sided 95 % of the normal distribution.
const Z: f64 = 1.96;

/// Estimates for a whole run; every number is a mean over what was played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Forecast {
    /// Conversations or rows that the forecast is made from, and those of the whole run.
    pub finished: i64,
    pub planned: i64,
    /// Share that is accepted, 0 to 1, and the Wilson score interval around it at 95 % confidence (Wilson 1927).
    pub accepted_share: f64,
    pub accepted_share_low: f64,
    pub accepted_share_high: f64,
    pub accepted_rows: f64,
    /// Tokens read and written, of all models.
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
    /// Seconds at the pace so far; with more conversations at once it takes less.
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
        let Spending { tokens, cost } = Spending::of(run);
        let (tokens, cost) = (tokens / played, cost / played);
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn means_of_what_was_played_make_the_whole() {
        let usage = |model: &str, tokens: i64, cost: f64| {
            json!({"role": "agent", "model": model, "calls": 1,
            "retries": 0, "prompt_tokens": tokens, "completion_tokens": tokens / 4, "cost": cost})
        };
        let run: RunSummary = serde_json::from_value(json!({
            "id": "r", "playbook": "p", "seed": 1, "created_at": "2026-05-04T10:00:00Z", "planned": 1000,
            "finished": 8, "accepted": 6, "failures": {"agent": 2}, "state": "paused", "priority": 0,
            "usage": [usage("a", 8_000, 0.5), usage("b", 800, 0.3), usage("scripted", 900_000, 0.0)],
        }))
        .expect("a run");
        let forecast = Forecast::of(&run, 16.0).expect("some were played");
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
        near(forecast.accepted_rows, 750.0);
        near(forecast.tokens_per_conversation, 11_000.0 / 8.0);
        near(forecast.tokens, 1_375_000.0);
        near(forecast.tokens_per_accepted_row.expect("some were accepted"), 11_000.0 / 6.0);
        near(forecast.cost, 100.0);
        near(forecast.cost_per_accepted_row.expect("some were accepted"), 0.8 / 6.0);
        near(forecast.seconds, 2_000.0);
        // Wilson's formula by Python, with 1.96.
        near(forecast.accepted_share_low, 0.409_269_879);
        near(forecast.accepted_share_high, 0.928_522_311);
        let none = RunSummary { finished: 0, accepted: 0, ..run.clone() };
        assert_eq!(Forecast::of(&none, 1.0), None);
        let refused = Forecast::of(&RunSummary { accepted: 0, ..run }, 1.0).expect("some were played");
        assert_eq!((refused.tokens_per_accepted_row, refused.cost_per_accepted_row), (None, None));
    }
}
