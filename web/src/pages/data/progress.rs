//! What goes on, and looking at it again until it is done.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api_client::Answer;
use crate::format;

const AGAIN: Duration = Duration::from_millis(700);

/// Asks again and again while `going` says so; a failure to answer is no reason to stop.
pub fn follow<T, F>(
    value: RwSignal<T>,
    going: impl Fn(&T) -> bool + Copy + Send + Sync + 'static,
    load: impl Fn() -> F + Copy + 'static,
) where
    T: Clone + Send + Sync + 'static,
    F: Future<Output = Answer<T>> + 'static,
{
    let round = RwSignal::new(0_u32);
    let goes = Memo::new(move |_| value.with(going));
    Effect::new(move |_| {
        round.track();
        if !goes.get() {
            return;
        }
        let timer = set_timeout_with_handle(
            move || {
                spawn_local(async move {
                    let answer = load().await;
                    // The reader may have left the page meanwhile.
                    if let Ok(answer) = answer {
                        value.try_set(answer);
                    }
                    round.try_update(|round| *round += 1);
                });
            },
            AGAIN,
        );
        on_cleanup(move || {
            if let Ok(timer) = timer {
                timer.clear();
            }
        });
    });
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
