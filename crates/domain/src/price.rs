//! What tokens cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::Usage;

/// Prices for a million tokens, in any currency: all models of a project use the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// A million tokens of prompts.
    pub prompt: f64,
    /// A million tokens of replies, reasoning included.
    pub completion: f64,
}

impl Price {
    /// What these tokens cost, in billionths of the currency's unit: whole numbers add up to the same in any order.
    #[expect(clippy::cast_precision_loss, reason = "no call has 2^53 tokens")]
    #[expect(clippy::cast_possible_truncation, reason = "rounded, and `as` keeps what is too much at the most")]
    pub fn cost(&self, usage: Usage) -> i64 {
        // A price of 1 for a million tokens is 1000 billionths for each.
        let prompt = usage.prompt_tokens as f64 * self.prompt;
        let completion = usage.completion_tokens as f64 * self.completion;
        ((prompt + completion) * 1000.0).round() as i64
    }

    /// The fields that are no price, with what is wrong.
    pub fn problems(&self) -> impl Iterator<Item = (String, String)> {
        let fields = [("prompt", self.prompt), ("completion", self.completion)];
        fields.into_iter().filter(|(_, price)| !price.is_finite() || *price < 0.0).map(|(field, price)| {
            (format!("/price/{field}"), format!("expected a price for a million tokens, 0 or more, found {price}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_exact_to_the_billionth() {
        let price = Price { prompt: 0.15, completion: 0.6 };
        for (prompt_tokens, completion_tokens, expected) in
            [(0, 0, 0), (1, 0, 150), (0, 1, 600), (1_000_000, 1_000_000, 750_000_000), (3, 7, 4_650)]
        {
            assert_eq!(price.cost(Usage { prompt_tokens, completion_tokens, ..Usage::default() }), expected);
        }
    }
}
