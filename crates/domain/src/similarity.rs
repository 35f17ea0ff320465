//! How alike two texts are, and which of many texts are nearly the same.
//!
//! Alike is what Ratcliff and Obershelp call the gestalt ("Pattern Matching: The Gestalt Approach", Dr. Dobb's Journal,
//! July 1988), in the form that Python's `difflib` gave it: teams that look for duplicates in Python see our numbers.

mod alphabet;
mod blocks;
mod counts;
mod similar_pairs;
mod subsequence;

pub use similar_pairs::{NearDuplicates, SimilarPair};

use alphabet::Alphabet;
use blocks::Blocks;

/// From how alike on two scenarios' descriptions are reported as near-duplicates, unless somebody says otherwise.
pub const SAME_DESCRIPTION: f64 = 0.85;
/// The same of their user goals.
pub const SAME_GOAL: f64 = 0.90;

/// How alike two scenarios are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likeness {
    /// The ratio of their descriptions.
    pub description: f64,
    /// The ratio of their user goals.
    pub goal: f64,
}

impl Likeness {
    /// Whether either is enough to be reported, unless somebody says from how alike on.
    pub fn is_reported(self) -> bool {
        self.description >= SAME_DESCRIPTION || self.goal >= SAME_GOAL
    }

    /// Orders scenarios by how near they come to being reported. Those that are have 1 or more.
    pub fn nearness(self) -> f64 {
        (self.description / SAME_DESCRIPTION).max(self.goal / SAME_GOAL)
    }
}

/// The gestalt ratio, from 0 (nothing in common) to 1 (the same): twice the letters in matching blocks by the letters
/// of both texts. Equal to `SequenceMatcher(None, a, b, autojunk=False).ratio()`, over Unicode characters; as there,
/// the ratio of (b, a) may be another one.
pub fn ratio(a: &str, b: &str) -> f64 {
    let mut alphabet = Alphabet::default();
    let (a, b) = (alphabet.letters(a), alphabet.letters(b));
    of_matched(Blocks::new(alphabet.len()).matched(&a, &b), a.len() + b.len())
}

/// The ratio of texts that have `matched` letters in common and `total` letters together.
#[expect(clippy::cast_precision_loss, reason = "texts have fewer than 2^52 letters")]
fn of_matched(matched: usize, total: usize) -> f64 {
    if total == 0 { 1.0 } else { 2.0 * matched as f64 / total as f64 }
}

#[cfg(test)]
mod tests;
