//! Positions drawn by a seed: the same seed draws the same.

use std::collections::BTreeSet;
use std::ops::Range;

use domain::seed::Seed;
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

/// Different positions below `rows`, in order; all of them if there are no more than that many. Each set of so many positions is
/// as likely as any other.
pub fn positions(rows: u64, many: usize, seed: u64) -> Vec<u64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let drawn = draw(rows, rows.min(many as u64), |last| random.random_range(0..=last));
    drawn.into_iter().collect()
}

/// Draws `many` numbers below `rows`; `up_to` draws one number from 0 to its argument (Floyd's algorithm: Bentley and Floyd, "A
/// sample of brilliance", CACM 30(9), 1987).
fn draw(rows: u64, many: u64, mut up_to: impl FnMut(u64) -> u64) -> BTreeSet<u64> {
    let mut drawn = BTreeSet::new();
    for last in rows - many..rows {
        let position = up_to(last);
        if !drawn.insert(position) {
            drawn.insert(last);
        }
    }
    drawn
}

/// Positions of a [`LargeSample`] that are drawn together.
const STRETCH: u64 = 256;

/// A sample of which each position can be computed without the others, so that nobody holds a list of them.
///
/// It is stratified: each 256 positions of it are drawn from a stretch of the rows, and the stretches have the same length and follow
/// each other. Within a stretch each set of so many positions is as likely as any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LargeSample {
    rows: u64,
    count: u64,
    seed: i64,
}

impl LargeSample {
    /// A sample of `count` positions below `rows`. `count` is at most `rows`, and `rows` at most what a dataset may have
    /// ([`MOST_ROWS`](domain::dataset::MOST_ROWS)).
    pub const fn new(rows: u64, count: u64, seed: i64) -> Self {
        Self { rows, count, seed }
    }

    /// The positions at some places of the sample, in order. Places behind its end have none.
    pub fn positions(&self, places: Range<u64>) -> Vec<u64> {
        let (first, end) = (places.start / STRETCH, places.end.min(self.count).div_ceil(STRETCH));
        let drawn = (first..end).flat_map(|number| self.stretch(number));
        let placed = (first * STRETCH..).zip(drawn).filter(|(place, _)| places.contains(place));
        placed.map(|(_, position)| position).collect()
    }

    /// The positions in one stretch, in order. They must never change, and the next version of `rand` may draw other numbers from
    /// a range than this one.
    fn stretch(&self, number: u64) -> impl Iterator<Item = u64> + use<> {
        let (first, end) = (number * STRETCH, self.count.min((number + 1) * STRETCH));
        let start = self.rows_before(first);
        let mut random = Seed::new(self.seed, "dataset", 0).rng(&format!("sample {number}"));
        let drawn = draw(self.rows_before(end) - start, end - first, |last| random.next_u64() % (last + 1));
        drawn.into_iter().map(move |position| start + position)
    }

    /// Rows from which the first rows of the sample are drawn.
    const fn rows_before(&self, place: u64) -> u64 {
        place * self.rows / self.count
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_seed_draws_the_same_positions() {
        assert_eq!(positions(3, 5, 1), [0, 1, 2]);
        assert_eq!(positions(0, 5, 1), [0; 0]);
        let one = positions(25_000_000, 100, 7);
        assert_eq!((one.len(), &one), (100, &positions(25_000_000, 100, 7)));
        assert_ne!(one, positions(25_000_000, 100, 8));
        assert!(one.is_sorted() && one[99] < 25_000_000);
    }

    #[test]
    fn every_position_is_as_likely() {
        let mut counts = [0; 10];
        for seed in 0..4_000 {
            positions(10, 3, seed).iter().for_each(|position| counts[usize::try_from(*position).unwrap()] += 1);
        }
        assert!(counts.iter().all(|count| (1_100..1_300).contains(count)), "{counts:?}");
    }

    #[test]
    fn every_position_of_a_large_sample_is_as_likely() {
        let mut counts = [0; 900];
        for seed in 0..500 {
            let drawn = LargeSample::new(900, 600, seed).positions(0..600);
            drawn.into_iter().for_each(|position| counts[usize::try_from(position).unwrap()] += 1);
        }
        // A share of 600 / 900 of 500, and six standard deviations around it.
        assert!(counts.iter().all(|count| (270..396).contains(count)), "{counts:?}");
    }

    /// A run that goes on with another version of the program has the same rows.
    #[test]
    fn a_large_sample_is_the_same_in_all_versions() {
        assert_eq!(LargeSample::new(10, 3, 7).positions(0..3), [3, 4, 7]);
        assert_eq!(LargeSample::new(10, 3, -1).positions(0..3), [4, 7, 9]);
        let large = LargeSample::new(25_000_000, 1_000_000, 7);
        assert_eq!(large.positions(254..259), [6_378, 6_390, 6_429, 6_433, 6_451]);
        assert_eq!(large.positions(999_999..1_000_002).len(), 1, "there is nothing behind its end");
        assert_eq!(large.positions(2_000_000..2_000_001), [0; 0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn a_large_sample_has_as_many_different_positions_in_order(
            (rows, count) in (1_u64..3_000).prop_flat_map(|rows| (Just(rows), 1..=rows)),
            seed in any::<i64>(),
            (start, length) in (0_u64..3_000, 0_u64..600),
        ) {
            let sample = LargeSample::new(rows, count, seed);
            let all = sample.positions(0..count);
            prop_assert_eq!(all.len() as u64, count);
            prop_assert!(all.is_sorted_by(|one, next| one < next) && all.last().is_some_and(|last| *last < rows));
            if count == rows {
                prop_assert!(all.iter().copied().eq(0..rows));
            }
            let places = start.min(count)..(start + length).min(count);
            let page: Vec<u64> = (0..).zip(&all).filter(|(place, _)| places.contains(place)).map(|(_, at)| *at).collect();
            prop_assert_eq!(sample.positions(start..start + length), page);
        }
    }
}
