//! Amounts beside each other.

use leptos::prelude::*;

/// Of a drawing, in its own units.
const WIDTH: f64 = 100.0;

#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    pub name: String,
    pub value: f64,
    /// The value as it is read.
    pub says: String,
    /// `good`, `bad`, or nothing.
    pub tone: &'static str,
}

/// A list, so that a screen reader reads it as one; the drawing says nothing that the words do not.
#[component]
pub fn Bars(bars: Vec<Bar>) -> impl IntoView {
    let widths = widths(&bars.iter().map(|bar| bar.value).collect::<Vec<_>>());
    let one = |(bar, width): (Bar, f64)| {
        view! {
            <li>
                <span class="what" dir="auto">{bar.name}</span>
                <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                    <rect class=format!("bar {}", bar.tone) width=width height="10" />
                </svg>
                <span class="number">{bar.says}</span>
            </li>
        }
    };
    view! { <ul class="bars">{bars.into_iter().zip(widths).map(one).collect_view()}</ul> }
}

/// As wide as they are great, the greatest over the whole width. What there is at all can be seen.
pub fn widths(values: &[f64]) -> Vec<f64> {
    let most = values.iter().copied().fold(0.0, f64::max);
    let one = |value: &f64| if *value <= 0.0 || most <= 0.0 { 0.0 } else { (value / most * WIDTH).max(0.5) };
    values.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_is_as_wide_as_the_drawing() {
        assert_eq!(widths(&[50.0, 200.0, 0.0, 0.1]), [25.0, 100.0, 0.0, 0.5]);
        assert_eq!(widths(&[0.0, -1.0]), [0.0, 0.0]);
        assert!(widths(&[]).is_empty());
    }
}
