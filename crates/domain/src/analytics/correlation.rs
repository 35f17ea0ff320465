//! How scores go together.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How often each two scores were given together.
pub type PairCounts = [[u64; 11]; 11];

/// Each score with each, in one order of rows and columns. Absent where one of both never changes, or nothing was given
/// both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Correlations {
    /// `overall`, and the criteria.
    pub scores: Vec<String>,
    /// Pearson's product-moment correlation, -1 to 1.
    pub pearson: Vec<Vec<Option<f64>>>,
    /// Spearman's: of the ranks, equal scores sharing the mean of theirs.
    pub spearman: Vec<Vec<Option<f64>>>,
    /// How many conversations have both scores.
    pub n: Vec<Vec<u64>>,
}

impl Correlations {
    /// `pair` says how often each two scores were given together.
    pub fn of(scores: Vec<String>, pair: impl Fn(&str, &str) -> PairCounts) -> Self {
        let table = |cell: &dyn Fn(&PairCounts) -> Option<f64>| -> Vec<Vec<Option<f64>>> {
            scores.iter().map(|a| scores.iter().map(|b| cell(&pair(a, b))).collect()).collect()
        };
        let (pearson, spearman) = (table(&pearson), table(&spearman));
        let n = scores.iter().map(|a| scores.iter().map(|b| pair(a, b).iter().flatten().sum()).collect()).collect();
        Self { scores, pearson, spearman, n }
    }
}

fn pearson(counts: &PairCounts) -> Option<f64> {
    let values = std::array::from_fn(|score| u8::try_from(score).map_or(0.0, f64::from));
    correlation(counts, &values, &values)
}

fn spearman(counts: &PairCounts) -> Option<f64> {
    let rows = std::array::from_fn(|a| counts[a].iter().sum());
    let columns = std::array::from_fn(|b| counts.iter().map(|row| row[b]).sum());
    correlation(counts, &ranks(&rows), &ranks(&columns))
}

/// The mean rank of each score.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn ranks(counts: &[u64; 11]) -> [f64; 11] {
    let mut below = 0;
    counts.map(|count| {
        let rank = below as f64 + f64::midpoint(count as f64, 1.0);
        below += count;
        rank
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn correlation(counts: &PairCounts, one: &[f64; 11], other: &[f64; 11]) -> Option<f64> {
    let cells = || (0..11).flat_map(|a| (0..11).map(move |b| (a, b, counts[a][b] as f64)));
    let sum = |of: &dyn Fn(usize, usize) -> f64| cells().map(|(a, b, count)| of(a, b) * count).sum::<f64>();
    let n = sum(&|_, _| 1.0);
    if n < 2.0 {
        return None;
    }
    let (mean_one, mean_other) = (sum(&|a, _| one[a]) / n, sum(&|_, b| other[b]) / n);
    let both = sum(&|a, b| (one[a] - mean_one) * (other[b] - mean_other));
    let spread = sum(&|a, _| (one[a] - mean_one).powi(2)).sqrt() * sum(&|_, b| (other[b] - mean_other).powi(2)).sqrt();
    (spread > 0.0).then(|| (both / spread).clamp(-1.0, 1.0))
}
