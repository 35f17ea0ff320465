//! Estimates, and the intervals in which the truth may lie.

use leptos::prelude::*;

const WIDTH: f64 = 100.0;

#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    pub name: String,
    pub value: f64,
    /// Absent: it cannot be said.
    pub interval: Option<(f64, f64)>,
    /// The estimate as it is read.
    pub says: String,
    /// `good`, `bad`, or nothing.
    pub tone: &'static str,
}

/// What a drawing reaches from and to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    pub low: f64,
    pub high: f64,
}

impl Scale {
    /// All of the intervals, and nothing at all.
    pub fn around_zero(estimates: &[Estimate]) -> Self {
        let ends = estimates.iter().flat_map(|one| {
            let (low, high) = one.interval.unwrap_or((one.value, one.value));
            [low, high]
        });
        let (low, high) = ends.fold((0.0_f64, 0.0_f64), |(low, high), end| (low.min(end), high.max(end)));
        let room = ((high - low) * 0.05).max(0.01);
        Self { low: low - room, high: high + room }
    }

    /// Where a value is drawn.
    pub fn at(self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        if share.is_finite() { share.clamp(0.0, 1.0) * WIDTH } else { 0.0 }
    }
}

/// A list, so that a screen reader reads it as one; the drawing says nothing that the words do not.
#[component]
pub fn Intervals(
    estimates: Vec<Estimate>,
    scale: Scale,
    /// Whether a line is drawn where there is no difference.
    #[prop(optional)]
    zero: bool,
) -> impl IntoView {
    let one = |estimate: Estimate| {
        let interval = estimate.interval.map(|(low, high)| (scale.at(low), scale.at(high)));
        let at = scale.at(estimate.value);
        view! {
            <li>
                <span class="what" dir="auto">{estimate.name}</span>
                <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" class="estimate">
                    {zero.then(|| view! { <line class="axis" x1=scale.at(0.0) x2=scale.at(0.0) y1="0" y2="10" /> })}
                    {interval
                        .map(|(low, high)| {
                            view! {
                                <rect class=format!("interval {}", estimate.tone) x=low width=(high - low).max(0.4) y="3" height="4" />
                            }
                        })}
                    <rect class=format!("bar {}", estimate.tone) x=(at - 0.6).max(0.0) width="1.2" y="0" height="10" />
                </svg>
                <span class="number">{estimate.says}</span>
            </li>
        }
    };
    view! { <ul class="bars">{estimates.into_iter().map(one).collect_view()}</ul> }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, interval: Option<(f64, f64)>) -> Estimate {
        Estimate { name: String::new(), value, interval, says: String::new(), tone: "" }
    }

    #[test]
    fn a_scale_holds_all_intervals_and_zero() {
        let scale = Scale::around_zero(&[estimate(1.0, Some((0.5, 2.0))), estimate(3.0, None)]);
        assert!(scale.low < 0.0 && scale.high > 3.0);
        assert!(scale.at(0.0) > 0.0 && scale.at(3.0) < 100.0);
    }

    #[test]
    fn places_are_in_order_and_never_outside() {
        let scale = Scale { low: 0.0, high: 1.0 };
        let places = [-1.0, 0.0, 0.25, 1.0, 7.0].map(|value| scale.at(value).to_string());
        assert_eq!(places, ["0", "0", "25", "100", "100"]);
        assert_eq!(Scale { low: 0.0, high: 0.0 }.at(0.0).to_string(), "0");
    }
}
