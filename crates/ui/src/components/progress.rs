//! Long work that somebody waits for.

use std::time::Duration;

use domain::progress::JobProgress;
use leptos::prelude::*;

use crate::components::Change;
use crate::format;

/// What is done now, how far it is and for how long, and the way out.
#[component]
pub fn Working(
    /// Stands before the step: "Selecting".
    what: &'static str,
    #[prop(into)] doing: Signal<Option<JobProgress>>,
    cancel: impl Fn() + 'static,
) -> impl IntoView {
    view! {
        {move || {
            let (label, done, total) = match doing.get() {
                Some(doing) => (format!("{what}, {}", doing.step), doing.done, doing.total),
                None => (what.to_owned(), 0, None),
            };
            view! { <Progress label=label done total /> }
        }}
        <div class="actions">
            <Elapsed />
            <button type="button" on:click=move |_| cancel()>
                "Cancel"
            </button>
        </div>
    }
}

/// A change that is not made at once: that it goes on and for how long, and the way out. What is made at once shows nothing
/// of it.
#[component]
pub fn Changing(change: Change, what: &'static str) -> impl IntoView {
    view! {
        <Show when=move || change.busy()>
            <p class="changing">
                <span role="status">{what}" …"</span>
                " "
                <Elapsed />
                " "
                <button type="button" on:click=move |_| change.cancel()>
                    "Cancel"
                </button>
            </p>
        </Show>
    }
}

/// How far something is; without a total, that it goes on.
#[component]
pub fn Progress(#[prop(into)] label: String, done: i64, total: Option<i64>) -> impl IntoView {
    let total = total.filter(|total| *total > 0);
    let says = match total {
        Some(total) => format!("{label}: {} of {}", format::count(done), format::count(total)),
        None => format!("{label} …"),
    };
    view! {
        <div class="progress">
            <progress aria-label=label max=total value=total.map(|_| done)></progress>
            <p class="muted" role="status">
                {says}
            </p>
        </div>
    }
}

/// How long it has been on the page.
#[component]
fn Elapsed() -> impl IntoView {
    let seconds = RwSignal::new(0_u32);
    let tick = move || {
        seconds.try_update(|seconds| *seconds += 1);
    };
    if let Ok(handle) = set_interval_with_handle(tick, Duration::from_secs(1)) {
        on_cleanup(move || handle.clear());
    }
    // A screen reader that heard of every second would say nothing else.
    view! { <span class="muted" aria-hidden="true">{move || format::duration(f64::from(seconds.get()))}</span> }
}
