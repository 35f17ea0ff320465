//! The best of many conversations by some of their scores.
//!
//! Scores are whole numbers from 0 to 10, so many share the last place that still belongs to the best. All of them
//! pass: a choice among equals would be chance.

use super::facts::NOTHING;
use super::{Facts, Filter};

/// A tenth of thirty is three, though 0.1 times 30 is a little more.
const ROUNDING: f64 = 1e-6;

/// How often each score was given, for each of a filter's shares.
#[derive(Debug, Clone)]
pub struct Tops(Vec<Counted>);

#[derive(Debug, Clone)]
struct Counted {
    /// `None`: overall.
    criterion: Option<u32>,
    share: f64,
    by_score: [u64; 11],
}

/// The scores that have to be reached.
#[derive(Debug, Clone)]
pub struct Cutoffs(Vec<(Option<u32>, u8)>);

impl Filter {
    /// `number` is that of [`Filter::compile`].
    pub fn tops(&self, mut number: impl FnMut(&str) -> Option<u32>) -> Tops {
        let counted = self.top.iter().map(|top| Counted {
            criterion: top.criterion.as_deref().map(|name| number(name).unwrap_or(NOTHING)),
            share: top.share,
            by_score: [0; 11],
        });
        Tops(counted.collect())
    }
}

impl Tops {
    /// Whether nothing needs counting: everything passes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts a conversation that passes everything else.
    pub fn count(&mut self, facts: &Facts<'_>) {
        for counted in &mut self.0 {
            if let Some(score) = facts.score(counted.criterion) {
                counted.by_score[usize::from(score.min(10))] += 1;
            }
        }
    }

    /// The least score of each share, when everything was counted.
    pub fn cutoffs(&self) -> Cutoffs {
        Cutoffs(self.0.iter().map(|counted| (counted.criterion, counted.cutoff())).collect())
    }
}

impl Cutoffs {
    /// Whether a conversation that was counted belongs to the best in everything.
    pub fn reached(&self, facts: &Facts<'_>) -> bool {
        self.0.iter().all(|(criterion, least)| facts.score(*criterion) >= Some(*least))
    }

    /// In the order of the filter's shares.
    pub fn scores(&self) -> impl Iterator<Item = u8> + '_ {
        self.0.iter().map(|(_, least)| *least)
    }
}

impl Counted {
    fn cutoff(&self) -> u8 {
        cutoff(&self.by_score, self.share)
    }
}

/// The least score that belongs to the best share of all that were given, `by_score` saying how often each was.
pub fn cutoff(by_score: &[u64; 11], share: f64) -> u8 {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts are far below 2^52, and a share of one is no more than it"
    )]
    let wanted = (by_score.iter().sum::<u64>() as f64 * share - ROUNDING).ceil() as u64;
    let mut found = 0;
    for score in (0..=10).rev() {
        found += by_score[usize::from(score)];
        if found >= wanted {
            return score;
        }
    }
    0
}
