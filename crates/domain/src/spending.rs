//! What a run has spent on models.

use crate::api::RunSummary;

/// The name by which the program's own model goes: it costs nothing, and its tokens are no model's.
const SCRIPTED: &str = "scripted";

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spending {
    /// Tokens read and written.
    pub tokens: f64,
    /// In the unit of the models' prices.
    pub cost: f64,
}

impl Spending {
    /// Of all models.
    #[expect(clippy::cast_precision_loss, reason = "no run has 2^53 tokens")]
    pub fn of(run: &RunSummary) -> Self {
        let models = run.usage.iter().filter(|usage| usage.model != SCRIPTED);
        models.fold(Self::default(), |spent, usage| Self {
            tokens: spent.tokens + (usage.prompt_tokens + usage.completion_tokens) as f64,
            cost: spent.cost + usage.cost,
        })
    }

    /// For each that was accepted, with what the others cost; `None` while none is.
    #[expect(clippy::cast_precision_loss, reason = "no run has 2^53 rows")]
    pub fn per_accepted(run: &RunSummary) -> Option<Self> {
        let (all, accepted) = (Self::of(run), run.accepted as f64);
        (run.accepted > 0).then(|| Self { tokens: all.tokens / accepted, cost: all.cost / accepted })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_not_accepted_is_paid_by_what_was() {
        let usage = |model: &str, tokens: i64, cost: f64| {
            json!({"role": "writer", "model": model, "calls": 1, "retries": 0, "prompt_tokens": tokens,
                   "completion_tokens": tokens / 4, "cost": cost})
        };
        let run: RunSummary = serde_json::from_value(json!({
            "id": "r", "playbook": "p", "seed": 1, "created_at": "2026-05-04T10:00:00Z", "planned": 9, "finished": 9,
            "accepted": 4, "failures": {"empty": 5}, "state": "finished", "priority": 0,
            "usage": [usage("a", 8_000, 0.5), usage("b", 800, 0.3), usage(SCRIPTED, 900_000, 0.0)],
        }))
        .expect("a run");
        assert_eq!(Spending::per_accepted(&run), Some(Spending { tokens: 2_750.0, cost: 0.2 }));
        assert_eq!(Spending::per_accepted(&RunSummary { accepted: 0, ..run }), None);
    }
}
