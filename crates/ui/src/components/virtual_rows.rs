//! A list of any length, of which only the rows in sight are on the page.
//!
//! Rows are as high as each other, so that the place of each is known; their pages are fetched when they come into sight.
//! There are as many elements as rows can be in sight, and each stands at its row's place. One that goes out of sight becomes
//! one that comes into it: to change words costs less than to drop elements and make others.

mod geometry;
mod pages;
mod steps;

use std::sync::Arc;

use domain::api::Page;
use leptos::html;
use leptos::prelude::*;

use crate::api_client::{Answer, PageStart};
use crate::components::Failure;
use geometry::Geometry;
use pages::Pages;

/// In CSS pixels; a row of a list is one line.
const ROW: f64 = 40.0;
/// Rows above and below those in sight: there before a finger or a key brings them into sight.
const AROUND: usize = 10;

#[component]
pub fn VirtualRows<T, F>(
    /// Names the list to screen readers.
    label: &'static str,
    /// How many rows there are, as far as it is known beforehand.
    total: Signal<Option<u64>>,
    /// A page of [`PAGE`](crate::api_client::PAGE) rows.
    load: impl Fn(PageStart) -> F + 'static,
    /// Cells of the head.
    head: ViewFn,
    /// Cells of a row. Its link is to have `tabindex="-1"`: Tab leads to the list and past it, and arrows from row to row.
    row: impl Fn(T) -> AnyView + Send + Sync + 'static,
    /// Under which name the list remembers where it was: whoever comes back finds it there.
    #[prop(into)]
    remember: String,
) -> impl IntoView
where
    T: Clone + PartialEq + Send + Sync + 'static,
    F: Future<Output = Answer<Page<T>>> + 'static,
{
    let node = NodeRef::<html::Div>::new();
    let pages = Pages::new(load);
    let (top, viewport) = (RwSignal::new(0.0), RwSignal::new(0.0));
    let geometry = Memo::new(move |_| Geometry { row: ROW, total: pages.total(total.get()), viewport: viewport.get() });
    let shown = Memo::new(move |_| geometry.get().shown(top.get(), AROUND));
    Effect::new(move |_| pages.want(shown.get()));
    let name = remember.clone();
    let measure = move || {
        if let Some(list) = node.try_get_untracked().flatten() {
            viewport.set(f64::from(list.client_height()));
        }
    };
    Effect::new(move |_| {
        if node.get().is_none() || geometry.read().total == 0 {
            return;
        }
        let (name, all_there) = (name.clone(), total.read().is_some());
        // Only then the browser knows how high the list is.
        request_animation_frame(move || {
            measure();
            if let Some(list) = node.try_get_untracked().flatten() {
                steps::come_back(&list, &name, all_there);
            }
        });
    });
    let resized = window_event_listener(leptos::ev::resize, move |_| measure());
    on_cleanup(move || resized.remove());
    let scrolled = move |_| {
        if let Some(list) = node.get_untracked() {
            top.set(f64::from(list.scroll_top()));
            steps::remember(&remember, list.scroll_top());
        }
    };
    let row = StoredValue::new(row);
    let slots = Memo::new(move |_| geometry.get().most_shown(AROUND));
    let one = move |slot: usize| {
        let own = NodeRef::<html::Div>::new();
        let index = Memo::new(move |_| geometry::held(&shown.get(), slots.get(), slot));
        let item = Memo::new_with_compare(move |_| pages.row(index.get()?), is_another);
        let place = Memo::new(move |_| Some(geometry.get().offset(top.get(), index.get()?)));
        Effect::new(move |before: Option<Option<usize>>| {
            let now = index.get();
            if before.is_some_and(|before| before != now) {
                steps::let_go(own.get_untracked().as_deref(), node.get_untracked().as_deref());
            }
            now
        });
        view! {
            <div
                class="virtual-row"
                role="row"
                aria-busy=move || item.read().is_none().then_some("true")
                node_ref=own
                aria-rowindex=move || index.get().map(|index| (index + 2).to_string())
                style:height=format!("{ROW}px")
                style:display=move || index.get().is_none().then_some("none")
                style:transform=move || place.get().map(|place| format!("translateY({place}px)"))
            >
                {move || match item.get() {
                    Some(item) => row.with_value(|row| row(T::clone(&item))),
                    None => view! { <span role="cell" class="muted awaited">"…"</span> }.into_any(),
                }}
            </div>
        }
    };
    view! {
        <div
            class="virtual"
            role="table"
            tabindex="0"
            aria-label=label
            aria-rowcount=move || (geometry.read().total + 1).to_string()
            node_ref=node
            on:scroll=scrolled
            on:keydown=move |event| steps::walk(&event, shown.get_untracked().start)
        >
            <div role="rowgroup" class="virtual-head">
                <div class="virtual-row" role="row" aria-rowindex="1">
                    {head.run()}
                </div>
            </div>
            <div role="rowgroup" class="virtual-body" style:height=move || format!("{}px", geometry.read().height())>
                <For each=move || 0..slots.get() key=|slot| *slot let:slot>
                    {one(slot)}
                </For>
            </div>
        </div>
        {move || pages.failed().map(|error| view! { <Failure error retry=move || pages.again(shown.get_untracked()) /> })}
    }
}

/// Pages come while somebody scrolls. What is on the page already is told by where it lies, not by comparing all of it.
fn is_another<T>(before: Option<&Option<Arc<T>>>, now: Option<&Option<Arc<T>>>) -> bool {
    match (before.and_then(Option::as_ref), now.and_then(Option::as_ref)) {
        (Some(before), Some(now)) => !Arc::ptr_eq(before, now),
        (None, None) => before.is_none(),
        _ => true,
    }
}
