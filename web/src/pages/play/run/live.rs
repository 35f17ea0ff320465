//! Keeps a run on the page as it is on the server.
//!
//! The server tells by events, at most twice a second; what comes faster is put together, so that however fast a run is the
//! page renders at most four times a second. Where no events come through, the run is asked for every few seconds.
//! Of a stream that breaks the browser does not say why, so the run is asked for then, too.

use std::time::Duration;

use domain::api::RunSummary;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, EventSource, MessageEvent};

use crate::api_client::{self, ApiError};

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
    let stream = StoredValue::new_local(None::<Stream>);
    let path = api_client::runs::progress(&id);
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
        let opened = (!over.get()).then(|| Stream::open(&path, tell, broken.clone()));
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

/// Events of a run. The browser comes back by itself when the connection breaks; dropped, it closes.
struct Stream {
    source: EventSource,
    /// Called by the source for as long as it lives.
    _on_event: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(Event)>,
}

impl Stream {
    /// `broken` is called when the connection is lost, and told whether the browser has given up.
    fn open(path: &str, tell: impl Fn(RunSummary) + 'static, broken: impl Fn(bool) + 'static) -> Option<Self> {
        let source = EventSource::new(path).ok()?;
        let on_event = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            let text = event.data().as_string().unwrap_or_default();
            if let Ok(summary) = serde_json::from_str(&text) {
                tell(summary);
            }
        });
        let own = source.clone();
        let on_error = Closure::<dyn FnMut(Event)>::new(move |_| {
            broken(own.ready_state() == EventSource::CLOSED);
        });
        for name in ["progress", "end"] {
            source.add_event_listener_with_callback(name, on_event.as_ref().unchecked_ref()).ok()?;
        }
        source.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Some(Self { source, _on_event: on_event, _on_error: on_error })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.source.set_onerror(None);
        self.source.close();
    }
}
