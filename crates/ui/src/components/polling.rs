//! Requests that are repeated while a page shows their answer. The last answer stays until the next one has come.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api_client::{Answer, ApiError};
use crate::components::{Failure, Loading, Stale};

pub struct Polling<T: Send + Sync + 'static> {
    newest: RwSignal<Option<T>>,
    error: RwSignal<Option<ApiError>>,
    ask: Callback<()>,
}

impl<T: Send + Sync + 'static> Clone for Polling<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for Polling<T> {}

/// Asks at once, and then every so often while the reader looks at the page and either `live` says so or the last answer failed
/// for a reason that may pass.
pub fn refresh<T, F>(every: Duration, live: Signal<bool>, load: impl Fn() -> F + 'static) -> Polling<T>
where
    T: Clone + PartialEq + Send + Sync + 'static,
    F: Future<Output = Answer<T>> + 'static,
{
    let (newest, error) = (RwSignal::new(None), RwSignal::new(None));
    let (asking, outdated) = (StoredValue::new(false), StoredValue::new(false));
    let load = StoredValue::new_local(load);
    let ask = move || {
        // The answer on its way may be older than what the caller has just changed.
        outdated.try_set_value(true);
        if asking.try_get_value() != Some(false) {
            return;
        }
        asking.set_value(true);
        spawn_local(async move {
            // The reader may leave the page meanwhile.
            while outdated.try_get_value() == Some(true) {
                outdated.try_set_value(false);
                let Some(answer) = load.try_with_value(|load| load()) else { return };
                tell(newest, error, answer.await);
            }
            asking.try_set_value(false);
        });
    };
    ask();
    let tick = move || {
        let failed =
            move || error.with_untracked(|error: &Option<ApiError>| error.as_ref().is_some_and(ApiError::may_pass));
        let idle = asking.try_get_value() == Some(false);
        if idle && (live.get_untracked() || failed()) && !document().hidden() {
            ask();
        }
    };
    // What is over is asked for once more, so that its last state is shown.
    Effect::new(move |before: Option<bool>| {
        let now = live.get();
        if before == Some(true) && !now {
            ask();
        }
        now
    });
    if let Ok(handle) = set_interval_with_handle(tick, every) {
        on_cleanup(move || handle.clear());
    }
    Polling { newest, error, ask: Callback::new(move |()| ask()) }
}

/// What says the same as before changes nothing on the page.
fn tell<T: PartialEq + Send + Sync + 'static>(
    newest: RwSignal<Option<T>>,
    error: RwSignal<Option<ApiError>>,
    answer: Answer<T>,
) {
    match answer {
        Ok(found) => {
            if error.try_with_untracked(Option::is_some) == Some(true) {
                error.set(None);
            }
            if newest.try_with_untracked(|known| known.as_ref() != Some(&found)) == Some(true) {
                newest.set(Some(found));
            }
        }
        Err(failed) => {
            error.try_set(Some(failed));
        }
    }
}

impl<T: Clone + Send + Sync + 'static> Polling<T> {
    /// Asks now.
    pub fn ask(self) {
        self.ask.run(());
    }

    /// What is known, if anything is.
    pub fn newest(self) -> Signal<Option<T>> {
        self.newest.into()
    }

    /// Why the last answer is not there, if it is not.
    pub fn error(self) -> Signal<Option<ApiError>> {
        self.error.into()
    }

    /// `view` is made once, and given what changes.
    pub fn show<V: IntoView + 'static>(
        self,
        what: &'static str,
        view: impl Fn(Signal<T>) -> V + Send + 'static,
    ) -> impl IntoView {
        let here = Memo::new(move |_| self.newest.read().is_some());
        move || match here.get().then(|| self.newest.get_untracked()).flatten() {
            Some(first) => {
                let value = Signal::derive(move || self.newest.get().unwrap_or_else(|| first.clone()));
                view! {
                    <Stale error=self.error />
                    {view(value)}
                }
                .into_any()
            }
            None => match self.error.get() {
                Some(error) => view! { <Failure error retry=move || self.ask() /> }.into_any(),
                None => view! { <Loading what /> }.into_any(),
            },
        }
    }
}
