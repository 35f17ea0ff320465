//! Krippendorff's alpha: how far any number of raters agree, some of whom may have left units out.

use super::mean::mean;

/// Alpha for interval data, from `units[unit][rater]`: 1 is perfect agreement, 0 what chance would give, below 0 is
/// worse than chance. Units that fewer than two raters have scored say nothing and are left out. `None` if no unit is
/// left, or if all values are the same: then chance alone would agree as well.
///
/// Source: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability", University of Pennsylvania, 2011.
pub fn krippendorff_alpha(units: &[Vec<Option<f64>>]) -> Option<f64> {
    let paired: Vec<Vec<f64>> = units
        .iter()
        .map(|unit| unit.iter().copied().flatten().collect::<Vec<_>>())
        .filter(|unit| unit.len() > 1)
        .collect();
    let all = paired.concat();
    let seen: f64 =
        paired.iter().map(|unit| mean_of_squared_differences(unit) * count(unit)).sum::<f64>() / count(&all);
    let expected = mean_of_squared_differences(&all);
    // A difference that only rounding made is none.
    (all.len() > 1 && expected > f64::EPSILON).then(|| 1.0 - seen / expected)
}

/// Over all ordered pairs of different positions: twice the sample variance.
fn mean_of_squared_differences(values: &[f64]) -> f64 {
    let mean = mean(values).unwrap_or_default();
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    2.0 * squares / (count(values) - 1.0)
}

#[expect(clippy::cast_precision_loss, reason = "there are fewer than 2^52 of them")]
const fn count(values: &[f64]) -> f64 {
    values.len() as f64
}
