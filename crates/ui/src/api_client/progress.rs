//! How far a run is, as the server tells it without being asked.

use domain::api::RunSummary;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, EventSource, MessageEvent};

use super::url;
use crate::address::segment;

/// Events of a run. The browser comes back by itself when the connection breaks; dropped, it closes.
pub struct Progress {
    source: EventSource,
    /// Called by the source for as long as it lives.
    _on_event: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(Event)>,
}

impl Progress {
    /// `broken` is called when the connection is lost, and told whether the browser has given up.
    pub fn open(run: &str, tell: impl Fn(RunSummary) + 'static, broken: impl Fn(bool) + 'static) -> Option<Self> {
        let source = EventSource::new(&url(&format!("/runs/{}/progress", segment(run)))).ok()?;
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

impl Drop for Progress {
    fn drop(&mut self) {
        self.source.set_onerror(None);
        self.source.close();
    }
}
