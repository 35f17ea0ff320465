//! Sketches: a few numbers that tell how much two sets of shingles resemble each other.
//!
//! MinHash, as in A. Broder, "On the resemblance and containment of documents" (1997): of each of 128 ways to number the
//! shingles, the least number. Two sets have the same least number as often as they resemble each other. Which of many
//! sketches are worth comparing is told by bands of such numbers that agree (locality-sensitive hashing, P. Indyk and
//! R. Motwani, 1998).

use std::collections::HashMap;

use super::shingles::mix;

/// Numbers of a sketch.
const NUMBERS: usize = 128;
/// How rarely bands may miss a pair that resembles each other just enough.
const MISSED: f64 = 1e-3;

/// Sixteen bits of each least number are enough: two different ones agree once in 65,536 times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sketch([u16; NUMBERS]);

impl Sketch {
    pub fn of(shingles: &[u32]) -> Self {
        Self(std::array::from_fn(|i| {
            // Multiply-shift: an odd factor, and the upper half of the product.
            let (factor, shift) = (mix(2 * i as u64 + 1) | 1, mix(2 * i as u64 + 2));
            let number = |shingle: &u32| (factor.wrapping_mul(u64::from(*shingle)).wrapping_add(shift) >> 32) as u32;
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the upper bits of the least number are nearly all zero"
            )]
            let low = |least: u32| least as u16;
            low(shingles.iter().map(number).min().unwrap_or(u32::MAX))
        }))
    }

    /// The resemblance that it tells, from 0 to 1: off by 0.035 on average at a resemblance of 0.8.
    #[expect(clippy::cast_precision_loss, reason = "at most 128")]
    pub fn resemblance(&self, other: &Self) -> f64 {
        let same: u32 = self.0.iter().zip(&other.0).map(|(a, b)| u32::from(a == b)).sum();
        f64::from(same) / NUMBERS as f64
    }
}

/// A resemblance that is looked for: which sketches may come up to it.
#[derive(Debug, Clone, Copy)]
pub struct Threshold {
    pub least: f64,
    /// Four standard deviations below: what tells less is no such pair but once in thirty thousand times.
    told: f64,
    /// Numbers of a band.
    rows: usize,
}

impl Threshold {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        reason = "at most 128"
    )]
    pub fn new(least: f64) -> Self {
        let missed = |rows: usize| (1.0 - least.powi(rows as i32)).powi((NUMBERS / rows) as i32);
        // The more rows, the fewer pairs in vain.
        let rows = (1..=16).rev().find(|rows| missed(*rows) <= MISSED).unwrap_or(1);
        let deviation = (least * (1.0 - least) / NUMBERS as f64).sqrt();
        Self { least, told: least - 4.0 * deviation, rows }
    }

    /// Whether two sketches tell that it is worth comparing what they stand for.
    pub fn allows(&self, one: &Sketch, other: &Sketch) -> bool {
        one.resemblance(other) >= self.told
    }

    /// For each band, which bucket each sketch falls into. Only pairs that share a bucket may come up to it.
    pub fn buckets(&self, sketches: &[&Sketch]) -> Vec<Buckets> {
        (0..NUMBERS / self.rows).map(|band| Buckets::new(sketches, band * self.rows, self.rows)).collect()
    }
}

/// One band: the sketches that agree in it share a bucket.
pub struct Buckets {
    /// By sketch; [`NONE`] if it is alone.
    of: Vec<u32>,
    pub count: usize,
}

/// No bucket, no sketch.
pub const NONE: u32 = u32::MAX;

impl Buckets {
    fn new(sketches: &[&Sketch], from: usize, rows: usize) -> Self {
        let key = |sketch: &Sketch| sketch.0[from..from + rows].iter().fold(0, |hash, n| mix(hash ^ u64::from(*n)));
        let keys: Vec<u64> = sketches.iter().map(|sketch| key(sketch)).collect();
        let mut sizes: HashMap<u64, u32> = HashMap::with_capacity(keys.len());
        keys.iter().for_each(|key| *sizes.entry(*key).or_default() += 1);
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        let of = keys.iter().map(|key| {
            let next = u32::try_from(numbers.len()).unwrap_or(NONE);
            if sizes.get(key).is_some_and(|size| *size > 1) { *numbers.entry(*key).or_insert(next) } else { NONE }
        });
        Self { of: of.collect(), count: numbers.len() }
    }

    /// How many sketches there are.
    pub fn sketches(&self) -> usize {
        self.of.len()
    }

    /// The bucket of a sketch; `None` if it is alone in it.
    pub fn of(&self, sketch: usize) -> Option<usize> {
        Some(self.of[sketch]).filter(|bucket| *bucket != NONE).map(|bucket| bucket as usize)
    }
}
