//! How often each number occurs.

use domain::analytics::{Bin, Distribution};
use leptos::prelude::*;

use super::Figure;
use super::figure::figure;

/// Of the drawing, in its own units.
const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 80.0;
/// Below the bars, for what they stand for.
const AXIS: f64 = 16.0;
/// Bars of one drawing.
const MOST_BARS: u32 = 24;

/// How numbers are distributed, with their mean and how far they spread around it.
#[component]
pub fn Histogram(
    title: String,
    of: Distribution,
    /// The greatest number that there may be; absent: that there is.
    #[prop(optional)]
    most: Option<u32>,
) -> impl IntoView {
    let greatest = of.bins.last().map_or(0, |bin| bin.value);
    let bars = buckets(&of.bins, 0, most.unwrap_or(greatest), MOST_BARS);
    let about = match of.deviation {
        Some(deviation) => {
            format!("Mean {} ± {}, median {}", figure(of.mean), figure(deviation), figure(of.quantiles[2]))
        }
        None => format!("Mean {}", figure(of.mean)),
    };
    let mean = place(of.mean, &bars) * WIDTH;
    let spread = of
        .deviation
        .map(|deviation| (place(of.mean - deviation, &bars) * WIDTH, place(of.mean + deviation, &bars) * WIDTH));
    let tall = heights(bars.iter().map(|bar| bar.count), HEIGHT - 6.0);
    #[expect(clippy::cast_precision_loss, reason = "bars are few")]
    let (width, every) = (WIDTH / bars.len().max(1) as f64, bars.len().div_ceil(12).max(1));
    let rows = bars.iter().map(|bar| vec![bar.name(), bar.count.to_string()]).collect();
    let drawn = bars.into_iter().zip(tall).enumerate().map(move |(i, (bar, height))| {
        #[expect(clippy::cast_precision_loss, reason = "bars are few")]
        let x = width * i as f64;
        let named = (i % every == 0).then(|| {
            view! {
                <text x=x + width / 2.0 y=HEIGHT + 12.0 text-anchor="middle">
                    {bar.low}
                </text>
            }
        });
        view! {
            <rect class="bar" x=x + width * 0.08 y=HEIGHT - height width=width * 0.84 height=height>
                <title>{format!("{}: {}", bar.name(), bar.count)}</title>
            </rect>
            {named}
        }
    });
    let says = format!("{title}: {about}");
    view! {
        <Figure title about head=vec!["Value".to_owned(), "Conversations".to_owned()] rows>
            <svg class="distribution" viewBox=format!("0 0 {WIDTH} {}", HEIGHT + AXIS) role="img" aria-label=says>
                {drawn.collect_view()}
                <line class="axis" x1="0" x2=WIDTH y1=HEIGHT y2=HEIGHT />
                {spread.map(|(low, high)| view! { <line class="spread" x1=low x2=high y1="3" y2="3" /> })}
                <line class="mean" x1=mean x2=mean y1="0" y2=HEIGHT />
            </svg>
        </Figure>
    }
}

/// Where a number is, as a share of the width: in the middle of its bar.
pub fn place(value: f64, bars: &[Bucket]) -> f64 {
    let (Some(first), Some(last)) = (bars.first(), bars.last()) else { return 0.0 };
    let (low, high) = (f64::from(first.low), f64::from(last.high) + 1.0);
    ((value + 0.5 - low) / (high - low)).clamp(0.0, 1.0)
}

/// Numbers next to each other that share a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    pub low: u32,
    /// Included.
    pub high: u32,
    pub count: u64,
}

impl Bucket {
    pub fn name(&self) -> String {
        if self.low == self.high { self.low.to_string() } else { format!("{} to {}", self.low, self.high) }
    }
}

/// Bars of equal width from one number to another, at most so many.
pub fn buckets(bins: &[Bin], from: u32, to: u32, most: u32) -> Vec<Bucket> {
    let to = to.max(from);
    let width = (to - from + 1).div_ceil(most.max(1));
    let mut buckets: Vec<Bucket> = (0..(to - from + 1).div_ceil(width))
        .map(|i| Bucket { low: from + i * width, high: (from + i * width + width - 1).min(to), count: 0 })
        .collect();
    for bin in bins.iter().filter(|bin| (from..=to).contains(&bin.value)) {
        if let Some(bucket) = buckets.get_mut(((bin.value - from) / width) as usize) {
            bucket.count += bin.count;
        }
    }
    buckets
}

/// Heights of bars, the greatest being `height`. What occurs at all can be seen.
#[expect(clippy::cast_precision_loss, reason = "a drawing needs no more")]
pub fn heights(counts: impl Iterator<Item = u64> + Clone, height: f64) -> Vec<f64> {
    let most = counts.clone().max().unwrap_or_default().max(1) as f64;
    let one = |count: u64| if count == 0 { 0.0 } else { (count as f64 / most * height).max(1.0) };
    counts.map(one).collect()
}

/// The bar at a share of the width, from 0 to 1.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bars are few, and the share is held between 0 and 1"
)]
pub fn bar_at(share: f64, bars: usize) -> usize {
    ((share.clamp(0.0, 1.0) * bars as f64) as usize).min(bars.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(bins: &[(u32, u64)]) -> Vec<Bin> {
        bins.iter().map(|(value, count)| Bin { value: *value, count: *count }).collect()
    }

    #[test]
    fn each_score_has_a_bar_of_its_own() {
        let bars = buckets(&bins(&[(3, 5), (10, 1)]), 0, 10, 40);
        assert_eq!(bars.len(), 11);
        assert_eq!((bars[3].count, bars[10].count, bars[4].count), (5, 1, 0));
    }

    #[test]
    fn long_ranges_share_bars_and_lose_nothing() {
        let all = bins(&[(0, 1), (41, 2), (99, 4)]);
        let bars = buckets(&all, 0, 99, 40);
        assert!(bars.len() <= 40);
        assert_eq!((bars[0].name().as_str(), bars.last().map(|bar| bar.high)), ("0 to 2", Some(99)));
        assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), 7);
    }

    #[test]
    fn bars_are_as_high_as_they_are_frequent() {
        assert_eq!(heights([0, 5, 10, 10_000].into_iter(), 40.0), [0.0, 1.0, 1.0, 40.0]);
        assert_eq!(heights([0, 0].into_iter(), 40.0), [0.0, 0.0]);
    }

    #[test]
    fn a_mean_stands_over_its_bar() {
        let scores = buckets(&[], 0, 9, 40);
        assert!((place(0.0, &scores) - 0.05).abs() < 1e-9);
        assert!((place(9.0, &scores) - 0.95).abs() < 1e-9);
        assert!((place(-3.0, &scores)).abs() < 1e-9);
    }

    #[test]
    fn a_place_belongs_to_a_bar() {
        assert_eq!([-1.0, 0.0, 0.5, 0.999, 1.0].map(|share| bar_at(share, 11)), [0, 0, 5, 10, 10]);
    }
}
