//! Near-duplicates among many texts: all pairs whose ratio reaches a threshold, and no other.
//!
//! Most pairs are never compared letter by letter. Each filter computes an upper bound of the ratio, the cheapest first,
//! and a pair is dropped only if even the bound is below the threshold.

use super::alphabet::{Alphabet, Letter};
use super::blocks::Blocks;
use super::counts::Counts;
use super::of_matched;
use super::subsequence::Subsequence;

/// Two texts, by their places in the list that was searched, `first < second`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimilarPair {
    pub first: usize,
    pub second: usize,
    /// Of the first text and the second, in this order.
    pub ratio: f64,
}

/// Texts, prepared to be searched.
pub struct NearDuplicates {
    /// From the shortest to the longest.
    texts: Vec<Text>,
    /// Side by side and apart from the rest: every pair of texts of like length reads them.
    letters: Vec<Counts<64>>,
    pairs: Vec<Counts<256>>,
    alphabet: usize,
    threshold: f64,
    /// By the letters of both texts together: how many must match to reach the threshold.
    needed: Vec<usize>,
}

struct Text {
    place: usize,
    letters: Vec<Letter>,
}

impl NearDuplicates {
    /// `threshold`: the least ratio, from 0 to 1, at which two texts are near-duplicates.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>, threshold: f64) -> Self {
        let mut alphabet = Alphabet::default();
        let texts = texts.into_iter().enumerate();
        let mut texts: Vec<Text> = texts.map(|(place, text)| Text { place, letters: alphabet.letters(text) }).collect();
        texts.sort_by_key(|text| text.letters.len());
        let longest = texts.last().map_or(0, |text| text.letters.len());
        Self {
            letters: texts.iter().map(|text| Counts::of_letters(&text.letters)).collect(),
            pairs: texts.iter().map(|text| Counts::of_pairs(&text.letters)).collect(),
            texts,
            alphabet: alphabet.len(),
            threshold,
            needed: needed(threshold, 2 * longest),
        }
    }

    /// All near-duplicates, in the order of their places.
    pub fn all(&self) -> Vec<SimilarPair> {
        self.part(0, 1)
    }

    /// The share `part` of `parts` of the work, in the order of places: the parts together find what [`Self::all`]
    /// finds, so they may run side by side.
    pub fn part(&self, part: usize, parts: usize) -> Vec<SimilarPair> {
        let mut blocks = Blocks::new(self.alphabet);
        let starts = (part..self.texts.len()).step_by(parts.max(1));
        let mut found: Vec<SimilarPair> = starts.flat_map(|start| self.beside(start, &mut blocks)).collect();
        found.sort_by_key(|near| (near.first, near.second));
        found
    }

    /// The near-duplicates of one text among the texts that are not shorter.
    fn beside(&self, start: usize, blocks: &mut Blocks) -> Vec<SimilarPair> {
        let text = &self.texts[start];
        // Made when first needed: most texts have no candidate that comes so far.
        let mut subsequence = None;
        let mut found = Vec::new();
        for (other, candidate) in self.texts.iter().enumerate().skip(start + 1) {
            let total = text.letters.len() + candidate.letters.len();
            let needed = self.needed[total];
            if text.letters.len() < needed {
                // The longer ones would need even more.
                break;
            }
            if self.letters[start].common(&self.letters[other]) < needed || !self.pairs_allow(start, other, needed) {
                continue;
            }
            let subsequence = subsequence.get_or_insert_with(|| Subsequence::new(&text.letters, self.alphabet));
            if subsequence.reaches(needed, &candidate.letters) {
                found.extend(self.compare(text, candidate, blocks));
            }
        }
        found
    }

    /// Texts with `m` letters in matching blocks and `total` letters together have `total - 2m` unmatched ones. Between
    /// two blocks lies at least one of these, so there are at most that many gaps, and all neighbours in a block are
    /// letter pairs of both texts: at least `m - 1 - (total - 2m)`.
    fn pairs_allow(&self, start: usize, other: usize, needed: usize) -> bool {
        let total = self.texts[start].letters.len() + self.texts[other].letters.len();
        self.pairs[start].common(&self.pairs[other]) + 1 + total >= 3 * needed
    }

    fn compare(&self, one: &Text, other: &Text, blocks: &mut Blocks) -> Option<SimilarPair> {
        let (first, second) = if one.place < other.place { (one, other) } else { (other, one) };
        let matched = blocks.matched(&first.letters, &second.letters);
        let ratio = of_matched(matched, first.letters.len() + second.letters.len());
        (ratio >= self.threshold).then_some(SimilarPair { first: first.place, second: second.place, ratio })
    }
}

/// For each total up to `longest`: the least number of matched letters whose ratio reaches the threshold. More than
/// there are letters if none does.
fn needed(threshold: f64, longest: usize) -> Vec<usize> {
    let mut matched = 0;
    let reach = |total| {
        // A longer total never needs fewer.
        while matched <= total && of_matched(matched, total) < threshold {
            matched += 1;
        }
        matched
    };
    (0..=longest).map(reach).collect()
}
