//! A histogram on which a range is chosen: by dragging over its bars, or by numbers.

use domain::analytics::Bin;
use leptos::ev::PointerEvent;
use leptos::prelude::*;
use leptos::web_sys::Element;
use wasm_bindgen::JsCast;

use super::super::inputs::BoundInput;
use ui::components::chart::histogram::{Bucket, bar_at, buckets, heights};

/// Bars of one histogram.
const MOST_BARS: u32 = 40;
/// Of the drawing, in its own units.
const WIDTH: f64 = 200.0;
const HEIGHT: f64 = 40.0;

/// From the least to the most, both included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    pub low: Option<u32>,
    pub high: Option<u32>,
}

impl Span {
    fn holds(self, bar: &Bucket) -> bool {
        self.low.is_none_or(|low| bar.high >= low) && self.high.is_none_or(|high| bar.low <= high)
    }
}

#[component]
pub fn RangeChoice(
    label: String,
    bins: Signal<Vec<Bin>>,
    chosen: Signal<Span>,
    choose: Callback<Span>,
    /// The greatest number that is drawn.
    most: Signal<u32>,
    /// The greatest number that can be asked for; absent: any.
    #[prop(optional)]
    limit: Option<u32>,
) -> impl IntoView {
    let bars = Memo::new(move |_| buckets(&bins.read(), 0, most.get(), MOST_BARS));
    // Bars between which the pointer is being dragged.
    let drag = RwSignal::new(None::<(usize, usize)>);
    let seen = Memo::new(move |_| match drag.get() {
        Some((from, to)) => span(&bars.read(), from, to),
        None => chosen.get(),
    });
    let at = move |event: &PointerEvent| {
        let svg: Element = event.current_target()?.dyn_into().ok()?;
        let place = svg.get_bounding_client_rect();
        let share = (f64::from(event.client_x()) - place.left()) / place.width();
        Some(bar_at(share, bars.read_untracked().len()))
    };
    let down = move |event: PointerEvent| {
        if let Some(bar) = at(&event) {
            event.prevent_default();
            if let Some(svg) = event.current_target().and_then(|target| target.dyn_into::<Element>().ok()) {
                // Without it a drag merely ends at the edge.
                let _ = svg.set_pointer_capture(event.pointer_id());
            }
            drag.set(Some((bar, bar)));
        }
    };
    let moved = move |event: PointerEvent| {
        if let (Some((from, _)), Some(bar)) = (drag.get_untracked(), at(&event)) {
            drag.set(Some((from, bar)));
        }
    };
    let up = move |_| {
        if let Some((from, to)) = drag.get_untracked() {
            let wanted = span(&bars.read_untracked(), from, to);
            drag.set(None);
            // A second click takes back the first.
            choose.run(if wanted == chosen.get_untracked() { Span::default() } else { wanted });
        }
    };
    let drawn = move || {
        let bars = bars.get();
        let tall = heights(bars.iter().map(|bar| bar.count), HEIGHT);
        #[expect(clippy::cast_precision_loss, reason = "bars are few")]
        let width = WIDTH / bars.len().max(1) as f64;
        let mut x = -width;
        let bar = |(bar, height): (Bucket, f64)| {
            x += width;
            view! {
                <rect
                    class="bar"
                    class:out=move || !seen.get().holds(&bar)
                    x=x + width * 0.08
                    y=HEIGHT - height
                    width=width * 0.84
                    height=height
                >
                    <title>{format!("{}: {}", bar.name(), bar.count)}</title>
                </rect>
            }
        };
        bars.into_iter().zip(tall).map(bar).collect_view()
    };
    let inputs = label.clone();
    view! {
        <fieldset class="facet range">
            <legend>{label}</legend>
            <svg
                class="histogram"
                viewBox=format!("0 0 {WIDTH} {HEIGHT}")
                preserveAspectRatio="none"
                aria-hidden="true"
                on:pointerdown=down
                on:pointermove=moved
                on:pointerup=up
                on:pointercancel=move |_| drag.set(None)
            >
                {drawn}
            </svg>
            <p class="unseen">{move || description(&bars.read())}</p>
            <div class="bounds">
                <BoundInput
                    says=format!("{inputs}: at least")
                    value=Signal::derive(move || seen.get().low)
                    change=Callback::new(move |low| choose.run(Span { low, ..chosen.get_untracked() }))
                    limit
                    most
                />
                <span class="muted">"to"</span>
                <BoundInput
                    says=format!("{inputs}: at most")
                    value=Signal::derive(move || seen.get().high)
                    change=Callback::new(move |high| choose.run(Span { high, ..chosen.get_untracked() }))
                    limit
                    most
                />
            </div>
        </fieldset>
    }
}

/// What the drawing shows, in words: how many conversations there are of each number.
fn description(bars: &[Bucket]) -> String {
    let some = bars.iter().filter(|bar| bar.count > 0);
    let all: Vec<String> = some.map(|bar| format!("{}: {}", bar.name(), bar.count)).collect();
    if all.is_empty() { "No conversation".to_owned() } else { format!("Conversations of each: {}", all.join(", ")) }
}

/// What bars from one to another mean; to the ends of the drawing there is no bound.
fn span(bars: &[Bucket], from: usize, to: usize) -> Span {
    let (first, last) = (from.min(to), from.max(to));
    let low = bars.get(first).map(|bar| bar.low).filter(|low| *low > 0);
    let high = bars.get(last).map(|bar| bar.high).filter(|_| last + 1 < bars.len());
    Span { low, high }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_mean_a_range_and_the_ends_mean_no_bound() {
        let bars = buckets(&[], 0, 10, 40);
        assert_eq!(span(&bars, 5, 3), Span { low: Some(3), high: Some(5) });
        assert_eq!(span(&bars, 0, 10), Span::default());
        assert_eq!(span(&bars, 7, 10), Span { low: Some(7), high: None });
    }

    #[test]
    fn what_is_drawn_is_also_told() {
        let bins = [Bin { value: 3, count: 5 }, Bin { value: 10, count: 1 }];
        assert_eq!(description(&buckets(&bins, 0, 10, 40)), "Conversations of each: 3: 5, 10: 1");
        assert_eq!(description(&buckets(&bins, 0, 10, 4)), "Conversations of each: 3 to 5: 5, 9 to 10: 1");
        assert_eq!(description(&buckets(&[], 0, 10, 40)), "No conversation");
    }
}
