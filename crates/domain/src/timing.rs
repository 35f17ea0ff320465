//! Where the time of tasks goes. Times are kept beside what a task becomes and are never part of it: the same seed gives the
//! same rows, however long they take.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// When a request was made and answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RequestTiming {
    /// When it was made, in microseconds since 1970.
    pub asked: i64,
    /// Microseconds from then until it was sent to a model: it waited for a free place there, or was sent again. Absent for
    /// others than models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
    /// Microseconds until the reply began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<u64>,
    /// Microseconds until the whole answer was there.
    pub answered: u64,
    /// It was made before its turn, from the beginning of a reply that still came.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub early: bool,
}

/// Where the time of one task went, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TaskSeconds {
    /// From when a player claimed it up to its end.
    pub total: f32,
    /// A request was being answered, or the task's own steps were computed.
    pub processing: f32,
    /// Nothing of it went on: it waited for a free place at a model, for the database, or for a processor.
    pub queueing: f32,
    /// Before its first step: its input and its events were read.
    pub initialising: f32,
}

/// Where the time of many tasks went.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TimeBreakdown {
    /// How many there are.
    pub tasks: u64,
    pub all: StageTimes,
    /// Of the tenth that took longest.
    pub slowest: StageTimes,
}

/// The stages of tasks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StageTimes {
    /// Seconds from when a player claimed a task up to its end.
    pub total: Percentiles,
    /// A request was being answered, or the task's own steps were computed.
    pub processing: StageTime,
    /// Nothing of it went on: it waited for a free place at a model, for the database, or for a processor.
    pub queueing: StageTime,
    /// Before its first step: its input and its events were read.
    pub initialising: StageTime,
}

/// One stage. Percentiles are of each column alone, so shares need not add up to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StageTime {
    pub seconds: Percentiles,
    /// Of the task's whole time, from 0 to 1.
    pub share: Percentiles,
}

/// Interpolated linearly (type 7 of Hyndman and Fan, "Sample quantiles in statistical packages", The American Statistician
/// 50(4), 1996).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Percentiles {
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
}

impl TimeBreakdown {
    /// `None` without tasks.
    pub fn of(mut tasks: Vec<TaskSeconds>) -> Option<Self> {
        tasks.sort_by(|one, other| one.total.total_cmp(&other.total));
        let slowest = &tasks[tasks.len() - tasks.len().div_ceil(10)..];
        (!tasks.is_empty()).then(|| Self {
            tasks: tasks.len() as u64,
            all: StageTimes::of(&tasks),
            slowest: StageTimes::of(slowest),
        })
    }
}

impl StageTimes {
    fn of(tasks: &[TaskSeconds]) -> Self {
        let stage = |seconds: fn(&TaskSeconds) -> f32| StageTime {
            seconds: Percentiles::of(tasks.iter().map(seconds)),
            share: Percentiles::of(
                tasks.iter().map(|task| if task.total > 0.0 { seconds(task) / task.total } else { 0.0 }),
            ),
        };
        Self {
            total: Percentiles::of(tasks.iter().map(|task| task.total)),
            processing: stage(|task| task.processing),
            queueing: stage(|task| task.queueing),
            initialising: stage(|task| task.initialising),
        }
    }
}

impl Percentiles {
    fn of(values: impl Iterator<Item = f32>) -> Self {
        let mut values: Vec<f32> = values.collect();
        values.sort_by(f32::total_cmp);
        let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|share| quantile(&values, share));
        Self { p50, p90, p99 }
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks are far below 2^52 and not negative"
)]
fn quantile(sorted: &[f32], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let rank = last as f64 * share;
    let below = rank.floor();
    let [low, high] = [below as usize, (below as usize + 1).min(last)].map(|place| f64::from(sorted[place]));
    low + (high - low) * (rank - below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(total: f32, queueing: f32) -> TaskSeconds {
        TaskSeconds { total, processing: total - queueing - 1.0, queueing, initialising: 1.0 }
    }

    #[test]
    fn percentiles_are_those_of_numpy() {
        // numpy.percentile(range(1, 11), [50, 90, 99])
        let Percentiles { p50, p90, p99 } = Percentiles::of((1_u8..=10).rev().map(f32::from));
        for (found, expected) in [(p50, 5.5), (p90, 9.1), (p99, 9.91)] {
            assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
        }
        assert_eq!(Percentiles::of([7.0].into_iter()), Percentiles { p50: 7.0, p90: 7.0, p99: 7.0 });
        assert_eq!(Percentiles::of([].into_iter()), Percentiles::default());
    }

    #[test]
    fn the_slowest_tenth_is_apart() {
        assert_eq!(TimeBreakdown::of(Vec::new()), None);
        let tasks = (0_u8..20).map(|n| if n % 10 == 3 { task(40.0, 30.0) } else { task(10.0, 0.0) });
        let found = TimeBreakdown::of(tasks.collect()).expect("there are tasks");
        assert_eq!((found.tasks, found.all.total.p50, found.slowest.total.p50), (20, 10.0, 40.0));
        assert_eq!((found.all.queueing.share.p50, found.slowest.queueing.share.p50), (0.0, 0.75));
        assert_eq!((found.all.processing.seconds.p50, found.all.initialising.seconds.p99), (9.0, 1.0));
        let at_once = TimeBreakdown::of(vec![TaskSeconds::default()]).expect("there is one");
        assert!(at_once.all.processing.share.p99.abs() < 1e-9, "nothing is divided by nothing");
    }
}
