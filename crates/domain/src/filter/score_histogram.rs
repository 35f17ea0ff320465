//! Selects the best of many conversations by one of their scores.
//!
//! Scores are whole numbers from 0 to 10, so many share the last place that still belongs to the best. All of them
//! pass: a choice among equals would be chance.

use super::TopShare;

/// A tenth of thirty is three, though 0.1 times 30 is a little more.
const ROUNDING: f64 = 1e-6;

/// Counts how often each score was given, among conversations that pass everything else.
#[derive(Debug, Clone)]
pub struct ScoreHistogram {
    share: f64,
    by_score: [u64; 11],
}

impl ScoreHistogram {
    pub const fn of(top: &TopShare) -> Self {
        Self { share: top.share, by_score: [0; 11] }
    }

    pub fn count(&mut self, score: u8) {
        self.by_score[usize::from(score.min(10))] += 1;
    }

    /// The least score that belongs to the best, once all conversations are counted.
    pub fn least(&self) -> u8 {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "counts are far below 2^52, and a share of one is no more than it"
        )]
        let wanted = (self.by_score.iter().sum::<u64>() as f64 * self.share - ROUNDING).ceil() as u64;
        let mut found = 0;
        for score in (0..=10).rev() {
            found += self.by_score[usize::from(score)];
            if found >= wanted {
                return score;
            }
        }
        0
    }
}
