//! A change that takes its time. It goes on when its page is left, and ends when somebody cancels it.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api_client::{AbortGuard, AbortSignal, Aborter, Answer};
use crate::components::{Problems, Toasts, explain, settle};

/// The server may have been done just before it heard of it.
const LOOK: &str = "Reload the page to see whether it was done before that.";

#[derive(Clone, Copy)]
pub struct Change {
    busy: RwSignal<bool>,
    /// Taken by whoever cancels.
    way_out: StoredValue<Option<Aborter>, LocalStorage>,
    /// Taken here: a key may begin a change, where no context is.
    toasts: Toasts,
    /// Where somebody who has cancelled it sees whether it was done.
    look: &'static str,
}

impl Change {
    pub fn new() -> Self {
        Self { busy: RwSignal::new(false), way_out: StoredValue::new_local(None), toasts: Toasts::here(), look: LOOK }
    }

    /// For what this page would not show.
    #[must_use]
    pub fn seen_elsewhere(self, look: &'static str) -> Self {
        Self { look, ..self }
    }

    pub fn busy(self) -> bool {
        self.busy.get()
    }

    /// The same, for those who look again.
    pub fn waits(self) -> Signal<bool> {
        self.busy.into()
    }

    /// Makes it, unless one is on its way. `then` is given what came of it, and nothing if it was cancelled: the server may
    /// have made it by then. It is run though the page may be gone.
    pub fn make<T: 'static, F, D>(
        self,
        change: impl FnOnce(AbortSignal) -> F,
        then: impl FnOnce(Option<Answer<T>>) -> D + 'static,
    ) where
        F: Future<Output = Answer<T>> + 'static,
        D: Future<Output = ()> + 'static,
    {
        if self.busy.get_untracked() {
            return;
        }
        let guard = AbortGuard::new();
        let change = change(guard.signal());
        self.way_out.set_value(Some(guard.aborter()));
        self.busy.set(true);
        spawn_local(async move {
            let answer = change.await;
            // Whoever has left cannot have cancelled.
            let cancelled = self.way_out.try_update_value(|way_out| way_out.take().is_none()).unwrap_or_default();
            then(if cancelled { None } else { Some(answer) }).await;
            self.busy.try_set(false);
            drop(guard);
        });
    }

    /// Makes it and says what became of it, unless there is nothing to say of its success. `then` is run if it was made and
    /// the page is still there.
    pub fn act<T: 'static, F>(
        self,
        done: impl Into<String>,
        change: impl FnOnce(AbortSignal) -> F,
        then: impl FnOnce(T) + 'static,
    ) where
        F: Future<Output = Answer<T>> + 'static,
    {
        let done = done.into();
        self.make(change, move |answer| {
            match answer {
                Some(Ok(answer)) => {
                    if !done.is_empty() {
                        self.toasts.good(done);
                    }
                    if !self.busy.is_disposed() {
                        then(answer);
                    }
                }
                Some(Err(error)) => self.toasts.bad(explain(error)),
                None => self.toasts.good(format!("It was cancelled. {}", self.look)),
            }
            std::future::ready(())
        });
    }

    /// Makes what a form asks for: what is wrong with it stands in the form. `then` is run if the page is still there.
    pub fn send<T: 'static, F>(
        self,
        problems: Problems,
        change: impl FnOnce(AbortSignal) -> F,
        then: impl FnOnce(T) + 'static,
    ) where
        F: Future<Output = Answer<T>> + 'static,
    {
        if self.busy.get_untracked() {
            return;
        }
        problems.clear();
        self.make(change, move |answer| {
            match answer {
                Some(answer) => settle(self.busy, problems, self.toasts, answer, then),
                None => self.toasts.good(format!("It was cancelled. {}", self.look)),
            }
            std::future::ready(())
        });
    }

    pub fn cancel(self) {
        if let Some(out) = self.way_out.try_update_value(Option::take).flatten() {
            out.abort();
        }
    }
}
