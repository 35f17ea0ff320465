//! What is left of many after each step.

use leptos::prelude::*;

use crate::components::{FirstRows, MoreRows};
use crate::format;

const WIDTH: f64 = 100.0;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub name: String,
    /// How many are left after it.
    pub left: u64,
    /// Why the others are not, most frequent first.
    pub reasons: Vec<(String, u64)>,
}

#[component]
pub fn Funnel(steps: Vec<Step>) -> impl IntoView {
    let edges = edges(&steps.iter().map(|step| step.left).collect::<Vec<_>>());
    let mut before = None::<u64>;
    let one = |(step, (above, below)): (Step, (f64, f64))| {
        let dropped = before.map_or(0, |before| before.saturating_sub(step.left));
        before = Some(step.left);
        view! {
            <li>
                <span class="what">{step.name}</span>
                <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                    <polygon class="bar" points=format!("0,0 {above},0 {below},10 0,10") />
                </svg>
                <span class="number">{count(step.left)}</span>
                <span class="number dropped">{if dropped > 0 { format!("−{}", count(dropped)) } else { String::new() }}</span>
                {(!step.reasons.is_empty()).then(|| view! { <Reasons reasons=step.reasons /> })}
            </li>
        }
    };
    view! { <ol class="bars funnel">{steps.into_iter().zip(edges).map(one).collect_view()}</ol> }
}

#[component]
fn Reasons(reasons: Vec<(String, u64)>) -> impl IntoView {
    let one = |(reason, n): (String, u64)| {
        view! {
            <li>
                <span class="text">{reason}</span>
                <span class="number muted">{count(n)}</span>
            </li>
        }
    };
    let (first, all) = (FirstRows::new(), reasons.len());
    view! {
        <details class="reasons">
            <summary>"Why"</summary>
            <ul>{first.rows(reasons, one)}</ul>
            <MoreRows first all=Signal::stored(all) />
        </details>
    }
}

fn count(n: u64) -> String {
    format::count(i64::try_from(n).unwrap_or(i64::MAX))
}

/// How wide each step is above and below: as it was before, and as it is after it.
#[expect(clippy::cast_precision_loss, reason = "a drawing needs no more")]
pub fn edges(left: &[u64]) -> Vec<(f64, f64)> {
    let most = left.iter().copied().max().unwrap_or_default().max(1) as f64;
    let wide = |n: u64| n as f64 / most * WIDTH;
    left.iter().enumerate().map(|(i, n)| (wide(if i == 0 { *n } else { left[i - 1] }), wide(*n))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_begins_as_wide_as_the_one_before_ended() {
        assert_eq!(edges(&[200, 100, 100, 0]), [(100.0, 100.0), (100.0, 50.0), (50.0, 50.0), (50.0, 0.0)]);
        assert_eq!(edges(&[0, 0]), [(0.0, 0.0), (0.0, 0.0)]);
    }
}
