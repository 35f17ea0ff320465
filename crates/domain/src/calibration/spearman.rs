//! Spearman's rho: whether two raters put things in the same order.

use super::mean::mean;

/// The correlation of the ranks, -1 to 1; equal values share the mean of their ranks. `None` for fewer than two pairs,
/// or if one side always says the same.
///
/// Source: C. Spearman, "The proof and measurement of association between two things", American Journal of Psychology
/// 15(1), 1904.
pub fn spearman(pairs: &[(u8, u8)]) -> Option<f64> {
    let one = ranks(pairs.iter().map(|pair| pair.0));
    let other = ranks(pairs.iter().map(|pair| pair.1));
    correlation(&one, &other)
}

/// From 1 on.
fn ranks(values: impl Iterator<Item = u8>) -> Vec<f64> {
    let values: Vec<u8> = values.collect();
    let mut counts = [0_u32; 256];
    for value in &values {
        counts[usize::from(*value)] += 1;
    }
    let mut below = 0;
    let shared = counts.map(|count| {
        let rank = f64::from(below) + f64::from(count + 1) / 2.0;
        below += count;
        rank
    });
    values.iter().map(|value| shared[usize::from(*value)]).collect()
}

/// Pearson's product-moment correlation. All sums of ranks are exact: ranks are halves of whole numbers.
fn correlation(one: &[f64], other: &[f64]) -> Option<f64> {
    let (mean_one, mean_other) = (mean(one)?, mean(other)?);
    let (mut both, mut of_one, mut of_other) = (0.0, 0.0, 0.0);
    for (a, b) in one.iter().zip(other) {
        let (a, b) = (a - mean_one, b - mean_other);
        both += a * b;
        of_one += a * a;
        of_other += b * b;
    }
    let spread = of_one.sqrt() * of_other.sqrt();
    (spread > 0.0).then(|| (both / spread).clamp(-1.0, 1.0))
}
