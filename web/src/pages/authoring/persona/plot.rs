//! A small picture of one or two distributions.

use domain::persona::Spread;
use leptos::prelude::*;

use super::curve::{HEIGHT, WIDTH, path};
use ui::format;

/// The first curve is filled, the second, if there is one, is a line over it.
#[component]
pub fn Plot(
    #[prop(into)] first: Signal<Option<Spread>>,
    #[prop(optional)] second: Option<Spread>,
    breakpoints: [f64; 2],
) -> impl IntoView {
    let filled = move || first.get().map(path).unwrap_or_default();
    let says = move || first.get().map(|spread| description(spread, breakpoints)).unwrap_or_default();
    let line = |x: f64| {
        let x = (x * WIDTH).to_string();
        view! { <line x1=x.clone() x2=x y1="0" y2=HEIGHT.to_string()></line> }
    };
    view! {
        <svg
            class="plot"
            viewBox=format!("0 0 {WIDTH} {HEIGHT}")
            preserveAspectRatio="none"
            role="img"
            aria-label=says
        >
            <path class="first" d=filled></path>
            {second.map(|spread| view! { <path class="second" d=path(spread)></path> })}
            {breakpoints.into_iter().map(line).collect_view()}
        </svg>
    }
}

/// "low 12 %, medium 80 %, high 8 %", and what clipping does if it does anything.
pub fn description(spread: Spread, breakpoints: [f64; 2]) -> String {
    let [low, medium, high] = spread.shares(breakpoints).map(|share| format!("{:.0} %", share.max(0.0) * 100.0));
    let mut text = format!("low {low}, medium {medium}, high {high}");
    for (share, end) in spread.clipped().into_iter().zip(["0", "1"]) {
        if share >= 0.01 {
            text.push_str(&format!("; {} exactly {end}", format::percent(share)));
        }
    }
    text
}
