//! How fast conversations end.

use std::collections::VecDeque;

use domain::api::{RunState, RunSummary};
use leptos::prelude::*;

/// What was seen this long ago does not count any more.
const WINDOW_MS: f64 = 30_000.0;

/// Conversations a second: of the last half minute while it runs, of all its time afterwards.
pub fn pace(run: RwSignal<RunSummary>) -> Memo<Option<f64>> {
    let seen = StoredValue::new(VecDeque::new());
    Memo::new(move |_| {
        let run = run.read();
        if run.state != RunState::Running {
            return whole(&run);
        }
        let now = js_sys::Date::now();
        let recent = seen.try_update_value(|seen| {
            seen.push_back((now, run.finished));
            recent(seen, now)
        });
        recent.flatten().or_else(|| whole(&run))
    })
}

fn whole(run: &RunSummary) -> Option<f64> {
    let (from, to) = (run.started_at?, run.finished_at?);
    let milliseconds = (to - from).num_milliseconds();
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    (milliseconds > 0).then(|| run.finished as f64 * 1000.0 / milliseconds as f64)
}

/// Between the oldest look that still counts and the newest one. One look tells nothing.
fn recent(seen: &mut VecDeque<(f64, i64)>, now: f64) -> Option<f64> {
    while seen.len() > 2 && seen.front().is_some_and(|(at, _)| now - at > WINDOW_MS) {
        seen.pop_front();
    }
    let ((from, before), (to, after)) = (*seen.front()?, *seen.back()?);
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    (to - from >= 500.0).then(|| (after - before) as f64 * 1000.0 / (to - from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_half_minute_counts() {
        let mut seen = VecDeque::from([(0.0, 0), (10_000.0, 1_000), (40_000.0, 1_300)]);
        assert_eq!(recent(&mut seen, 40_000.0), Some(10.0));
        assert_eq!(recent(&mut VecDeque::from([(0.0, 5)]), 0.0), None);
    }
}
