//! Positions drawn by a seed: the same seed draws the same.

use std::collections::BTreeSet;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

/// Different positions below `rows`, in order; all of them if there are no more than that many. Each set of so many positions is
/// as likely as any other (Floyd's algorithm: Bentley and Floyd, "A sample of brilliance", CACM 30(9), 1987).
pub fn positions(rows: u64, many: usize, seed: u64) -> Vec<u64> {
    let many = rows.min(many as u64);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut drawn = BTreeSet::new();
    for last in rows - many..rows {
        let position = random.random_range(0..=last);
        if !drawn.insert(position) {
            drawn.insert(last);
        }
    }
    drawn.into_iter().collect()
}

#[cfg(test)]
mod tests {
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
}
