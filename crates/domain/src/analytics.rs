//! What is to be said of many conversations: how scores are distributed and go together, who succeeds with whom, and how
//! far two sets differ.
//!
//! Everything is computed from counts ([`Counts`]): scores are whole numbers from 0 to 10, so a million conversations are
//! eleven counts for each criterion, and the figures are exact whatever the order of the rows.

mod compare;
mod correlation;
mod counts;
mod distribution;
mod interval;
mod running;
mod student;

pub use compare::{Comparison, Gap, MeanGap, RateGap, gaps};
pub use correlation::{Correlations, PairCounts};
pub use counts::{Analytics, Counts, Group, LargestGroups, OutcomeCount, Outcomes};
pub use distribution::{Bin, Distribution, Moments};
pub use interval::{Interval, Rate, difference_of_means, difference_of_rates, of_mean, wilson};
pub use running::RunningMoments;

#[cfg(test)]
mod tests;
