//! How numbers are distributed.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Whole numbers, counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Distribution {
    /// How many there are.
    pub n: u64,
    pub mean: f64,
    /// Standard deviation of the sample (divided by n - 1); absent for fewer than two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// At 5, 25, 50, 75 and 95 %, interpolated linearly (type 7 of Hyndman and Fan, "Sample quantiles in statistical
    /// packages", The American Statistician 50(4), 1996).
    pub quantiles: [f64; 5],
    /// Every number that occurs, in order.
    pub bins: Vec<Bin>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Bin {
    pub value: u32,
    pub count: u64,
}

const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

impl Distribution {
    /// `None` if there are no numbers. Bins are in order.
    pub fn of(bins: impl IntoIterator<Item = (u32, u64)>) -> Option<Self> {
        let bins: Vec<Bin> =
            bins.into_iter().filter(|(_, count)| *count > 0).map(|(value, count)| Bin { value, count }).collect();
        let Moments { n, mean, variance } = Moments::of(bins.iter().map(|bin| (bin.value, bin.count)))?;
        let quantiles = QUANTILES.map(|share| quantile(&bins, n, share));
        Some(Self { n, mean, deviation: variance.map(f64::sqrt), quantiles, bins })
    }
}

/// What means are compared by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    pub n: u64,
    pub mean: f64,
    /// Of the sample; `None` for fewer than two.
    pub variance: Option<f64>,
}

impl Moments {
    /// `None` if there are no numbers.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub fn of(counted: impl Iterator<Item = (u32, u64)> + Clone) -> Option<Self> {
        let n: u64 = counted.clone().map(|(_, count)| count).sum();
        if n == 0 {
            return None;
        }
        let mean = counted.clone().map(|(value, count)| f64::from(value) * count as f64).sum::<f64>() / n as f64;
        let squares: f64 = counted.map(|(value, count)| (f64::from(value) - mean).powi(2) * count as f64).sum();
        Some(Self { n, mean, variance: (n > 1).then(|| squares / (n - 1) as f64) })
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks are far below 2^52 and not negative"
)]
fn quantile(bins: &[Bin], n: u64, share: f64) -> f64 {
    let rank = (n - 1) as f64 * share;
    let below = rank.floor();
    let (low, high) = (at(bins, below as u64), at(bins, (below as u64 + 1).min(n - 1)));
    low + (high - low) * (rank - below)
}

/// The number at a rank, from 0.
fn at(bins: &[Bin], rank: u64) -> f64 {
    let mut seen = 0;
    let found = bins.iter().find(|bin| {
        seen += bin.count;
        seen > rank
    });
    found.or(bins.last()).map_or(0.0, |bin| f64::from(bin.value))
}
