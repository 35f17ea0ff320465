//! Two sets of conversations beside each other.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::counts::Counts;
use super::distribution::Moments;
use super::interval::{Interval, Rate, difference_of_means, difference_of_rates};

/// How far the second set differs from the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Comparison {
    /// `accepted`, `goal_achieved` and `verified`.
    pub rates: BTreeMap<String, RateGap>,
    /// `overall`, the criteria, `turns` and `tool_calls`, as far as both sets have them.
    pub means: BTreeMap<String, MeanGap>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RateGap {
    pub one: Rate,
    pub other: Rate,
    pub gap: Gap,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MeanGap {
    /// Means, and of how many.
    pub one: f64,
    pub one_n: u64,
    pub other: f64,
    pub other_n: u64,
    /// Absent if a side has fewer than two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
    /// Hedges' g: the difference in standard deviations of both together, corrected for small samples. Absent where
    /// nothing varies. About 0.2 is small, 0.5 medium, 0.8 large (J. Cohen, "Statistical Power Analysis for the
    /// Behavioral Sciences", 1988).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<f64>,
}

/// The second less the first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Gap {
    pub difference: f64,
    /// Of 95 % confidence: Newcombe's for rates, Welch's for means.
    pub interval: Interval,
    /// Whether 0 lies outside of the interval.
    pub significant: bool,
}

impl Gap {
    fn of((difference, interval): (f64, Interval)) -> Self {
        Self { difference, interval, significant: interval.low > 0.0 || interval.high < 0.0 }
    }
}

impl Comparison {
    pub fn of(one: &Counts, other: &Counts) -> Self {
        let rates = |counts: &Counts| {
            let mut rates = counts.rates();
            rates.extend(counts.accepted().map(|rate| ("accepted".to_owned(), rate)));
            rates
        };
        let others = rates(other);
        let rates = rates(one).into_iter().filter_map(|(name, one)| {
            let other = *others.get(&name)?;
            Some((name, RateGap { one, other, gap: Gap::of(difference_of_rates(&one, &other)) }))
        });
        Self { rates: rates.collect(), means: gaps(one, other) }
    }
}

/// The gap of each mean that both sets have.
pub fn gaps(one: &Counts, other: &Counts) -> BTreeMap<String, MeanGap> {
    let others = other.moments();
    let both = one.moments().into_iter().filter_map(|(name, one)| {
        let other = *others.get(&name)?;
        Some((name, mean_gap(&one, &other)))
    });
    both.collect()
}

fn mean_gap(one: &Moments, other: &Moments) -> MeanGap {
    MeanGap {
        one: one.mean,
        one_n: one.n,
        other: other.mean,
        other_n: other.n,
        gap: difference_of_means(one, other).map(Gap::of),
        effect: hedges(one, other),
    }
}

/// Source: L. V. Hedges, "Distribution theory for Glass's estimator of effect size and related estimators", Journal of
/// Educational Statistics 6(2), 1981; the correction is his approximation.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn hedges(one: &Moments, other: &Moments) -> Option<f64> {
    let (a, b) = ((one.n - 1) as f64, (other.n - 1) as f64);
    let pooled = ((a * one.variance? + b * other.variance?) / (a + b)).sqrt();
    let correction = 1.0 - 3.0 / (4.0 * (a + b) - 1.0);
    (pooled > 0.0).then(|| (other.mean - one.mean) / pooled * correction)
}
