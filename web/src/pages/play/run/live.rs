//! Keeps a run on the page as it is on the server.
//!
//! The server tells by events, at most twice a second; what comes faster is put together, so that however fast a run is the
//! page renders at most four times a second. Where no events come through, the run is asked for every few seconds.
//! Of a stream that breaks the browser does not say why, so the run is asked for then, too.

use std::time::Duration;

use domain::api::RunSummary;
use leptos::prelude::*;
use leptos::task::spawn_local;

use ui::api_client::progress::Progress;
use ui::api_client::{self, ApiError};

const AT_MOST_EVERY: Duration = Duration::from_millis(250);
const POLL: Duration = Duration::from_secs(3);

/// From now on, until the calling component goes, and whenever the run can still change. Gives why it cannot be followed
/// at this moment, if it cannot.
pub fn follow(run: RwSignal<RunSummary>) -> Signal<Option<ApiError>> {
    let id = run.read_untracked().id.clone();
    let over = Memo::new(move |_| run.read().state.is_over());
    let (newest, deaf, error) = (StoredValue::new(None), StoredValue::new(false), RwSignal::new(None));
    let fail = move |why: Option<ApiError>| {
        if error.try_with_untracked(|known| *known != why) == Some(true) {
            error.set(why);
        }
    };
    let tell = move |summary: RunSummary| {
        fail(None);
        let waits = newest.try_get_value().flatten().is_some();
        newest.try_set_value(Some(summary));
        if !waits {
            set_timeout(move || show(run, newest), AT_MOST_EVERY);
        }
    };
    let stream = StoredValue::new_local(None::<Progress>);
    let own = id.clone();
    let broken = {
        let id = id.clone();
        move |for_good: bool| {
            deaf.try_set_value(for_good);
            let id = id.clone();
            // What the stream tells once it is back is newer than what is answered here.
            spawn_local(async move { fail(api_client::runs::one(&id).await.err()) });
        }
    };
    Effect::new(move |_| {
        let opened = (!over.get()).then(|| Progress::open(&own, tell, broken.clone()));
        deaf.set_value(opened.as_ref().is_some_and(Option::is_none));
        // The one that was there closes.
        stream.set_value(opened.flatten());
    });
    let poll = move || {
        if deaf.get_value() && !over.get_untracked() {
            let id = id.clone();
            spawn_local(async move {
                match api_client::runs::one(&id).await {
                    Ok(summary) => tell(summary),
                    Err(why) => fail(Some(why)),
                }
            });
        }
    };
    if let Ok(handle) = set_interval_with_handle(poll, POLL) {
        on_cleanup(move || handle.clear());
    }
    error.into()
}

/// What was told last, if the page is still there.
fn show(run: RwSignal<RunSummary>, newest: StoredValue<Option<RunSummary>>) {
    let told = newest.try_update_value(Option::take).flatten();
    if let Some(told) = told
        && run.try_with_untracked(|known| *known != told) == Some(true)
    {
        run.set(told);
    }
}
