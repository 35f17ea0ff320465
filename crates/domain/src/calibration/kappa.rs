//! Cohen's kappa: how far two raters agree beyond what chance would give raters of their habits.

/// Agreement on names: every disagreement weighs the same.
///
/// From `table[one's category][the other's category]`, -1 to 1. `None` if nothing was rated, or if both always gave the
/// same category: chance alone would agree as well.
///
/// Source: J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20(1),
/// 1960.
pub fn unweighted_kappa<const K: usize>(table: &[[u32; K]; K]) -> Option<f64> {
    kappa(table, |one, other| if one == other { 0.0 } else { 1.0 })
}

/// Agreement on a scale: a disagreement weighs the square of its distance. Otherwise as [`unweighted_kappa`].
///
/// Source: J. Cohen, "Weighted kappa: nominal scale agreement with provision for scaled disagreement or partial credit",
/// Psychological Bulletin 70(4), 1968.
pub fn quadratic_kappa<const K: usize>(table: &[[u32; K]; K]) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "there are few categories")]
    kappa(table, |one, other| (one.abs_diff(other) as f64).powi(2))
}

/// One minus the disagreement that was seen by that which chance would give.
fn kappa<const K: usize>(table: &[[u32; K]; K], weight: impl Fn(usize, usize) -> f64) -> Option<f64> {
    let one = table.map(|row| row.iter().map(|count| f64::from(*count)).sum::<f64>());
    let mut other = [0.0; K];
    for row in table {
        for (sum, count) in other.iter_mut().zip(row) {
            *sum += f64::from(*count);
        }
    }
    let total: f64 = one.iter().sum();
    let (mut seen, mut expected) = (0.0, 0.0);
    for i in 0..K {
        for j in 0..K {
            seen += weight(i, j) * f64::from(table[i][j]);
            expected += weight(i, j) * one[i] * other[j];
        }
    }
    // `expected` is counted in pairs of ratings, `seen` in ratings.
    (expected > 0.0).then(|| 1.0 - seen * total / expected)
}

/// How often each pair of categories was given.
pub fn table<const K: usize>(pairs: impl IntoIterator<Item = (usize, usize)>) -> [[u32; K]; K] {
    let mut table = [[0; K]; K];
    for (one, other) in pairs {
        table[one.min(K - 1)][other.min(K - 1)] += 1;
    }
    table
}
