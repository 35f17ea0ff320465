//! Faults: what goes wrong between the agent and its backend, planned and seeded, so that recovery can be scored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use crate::problem::{MOST_PROBLEMS, did_you_mean, explained};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum FaultKind {
    /// No answer in time; nothing was done.
    Timeout,
    /// 429: too many requests; nothing was done.
    RateLimit,
    /// 500: an error of the backend; nothing was done.
    ServerError,
    /// The call was done, and its answer arrives as text that is not JSON.
    MalformedJson,
    /// The call was done, and only the first half of its answer arrives.
    TruncatedBody,
    /// The answer comes from the world before its last change. Only for calls of tools that write nothing.
    StaleRead,
    /// 503: this part of the backend is down; nothing was done.
    Outage,
}

impl FaultKind {
    /// Whether who reads the answer can tell that something went wrong.
    pub const fn is_visible(self) -> bool {
        !matches!(self, Self::StaleRead)
    }

    /// Whether the call was not done.
    pub const fn is_refusal(self) -> bool {
        matches!(self, Self::Timeout | Self::RateLimit | Self::ServerError | Self::Outage)
    }
}

/// When a fault happens: at positions, or with a probability. The first rule that matches a call decides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    /// The kind of the fault.
    pub kind: FaultKind,
    /// Tools that the rule is for; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Positions among the valid calls of these tools in a conversation, from 1. An outage of three calls is `[1, 2, 3]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<u32>,
    /// Probability for each valid call of these tools, if no positions are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: Option<f64>,
}

/// A file of faults for a whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultPlan {
    pub faults: Vec<FaultRule>,
}

/// What is wrong with a plan: the position of the rule and the reason.
pub fn problems(rules: &[FaultRule], tools: &[&str]) -> Vec<(usize, String)> {
    let named = rules.iter().enumerate().flat_map(|(i, rule)| rule.tools.iter().map(move |name| (i, name)));
    let unknown = named.filter(|(_, name)| !tools.contains(&name.as_str()));
    let mut found = explained(
        MOST_PROBLEMS,
        unknown,
        |(i, name)| {
            let hint = did_you_mean(name, tools.iter().copied());
            (i, format!("no agent has a tool `{name}`{hint}"))
        },
        |more| (0, more),
    );
    for (i, rule) in rules.iter().enumerate() {
        if rule.calls.is_empty() == rule.probability.is_none() {
            found.push((i, "expected either `calls` or `probability`".to_owned()));
        }
        // Not a number is in no range.
        if let Some(probability) = rule.probability.filter(|probability| !(0.0..=1.0).contains(probability)) {
            found.push((i, format!("expected a probability from 0 to 1, found {probability}")));
        }
    }
    found.sort_by_key(|(i, _)| *i);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probability_is_from_0_to_1() {
        let rule = |probability| FaultRule {
            kind: FaultKind::Timeout,
            tools: Vec::new(),
            calls: Vec::new(),
            probability: Some(probability),
        };
        for fine in [0.0, 0.5, 1.0] {
            assert_eq!(problems(&[rule(fine)], &[]), [], "{fine}");
        }
        for wrong in [-5.0, -f64::MIN_POSITIVE, 1.000_001, 1e308, f64::INFINITY, f64::NAN] {
            let found = problems(&[rule(wrong)], &[]);
            assert_eq!(found, [(0, format!("expected a probability from 0 to 1, found {wrong}"))]);
        }
    }
}
