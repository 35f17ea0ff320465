//! Multisets of letters or letter pairs, in few bytes: what two texts can have in common at most.

use super::alphabet::Letter;

/// How often each of the things of a text occurs, things being thrown into `N` buckets. Sharing a bucket can only make
/// texts look more alike than they are, so what is computed from counts stays an upper bound.
#[derive(Clone)]
pub struct Counts<const N: usize> {
    buckets: [u8; N],
    /// What did not fit into the bytes.
    spilled: usize,
}

impl<const N: usize> Counts<N> {
    pub fn of_letters(text: &[Letter]) -> Self {
        Self::of(text.iter().map(|letter| *letter as usize))
    }

    pub fn of_pairs(text: &[Letter]) -> Self {
        Self::of(text.windows(2).map(|pair| pair[0] as usize * 31 + pair[1] as usize))
    }

    fn of(things: impl Iterator<Item = usize>) -> Self {
        let mut counts = Self { buckets: [0; N], spilled: 0 };
        for thing in things {
            let bucket = &mut counts.buckets[thing % N];
            match bucket.checked_add(1) {
                Some(more) => *bucket = more,
                None => counts.spilled += 1,
            }
        }
        counts
    }

    /// At least the size of the intersection of the two multisets.
    pub fn common(&self, other: &Self) -> usize {
        let both = self.buckets.iter().zip(&other.buckets);
        let common: u32 = both.map(|(a, b)| u32::from(*a.min(b))).sum();
        common as usize + self.spilled.min(other.spilled)
    }
}
