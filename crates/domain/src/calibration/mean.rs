//! The arithmetic mean.

/// `None` of nothing.
#[expect(clippy::cast_precision_loss, reason = "there are fewer than 2^52 of them")]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
