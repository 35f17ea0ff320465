//! Work that somebody waits for, and may cancel.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api_client::{AbortGuard, AbortSignal, Answer};
use crate::components::{Toasts, explain};

/// Whoever leaves the page waits no longer, either.
#[derive(Clone, Copy)]
pub struct PendingRequest {
    busy: RwSignal<bool>,
    /// Dropped, it breaks the request off.
    guard: StoredValue<Option<AbortGuard>, LocalStorage>,
    /// Counts what was asked; what comes of an older one is waited for no longer.
    latest: StoredValue<u32>,
}

impl PendingRequest {
    pub fn new() -> Self {
        Self { busy: RwSignal::new(false), guard: StoredValue::new_local(None), latest: StoredValue::new(0) }
    }

    /// Whether somebody waits.
    pub fn busy(self) -> bool {
        self.busy.get()
    }

    /// Asks over a line, unless something was asked already. `then` is given the answer; why there is none is told in a
    /// toast.
    pub fn ask<T: 'static, F>(self, work: impl FnOnce(AbortSignal) -> F, then: impl FnOnce(T) + 'static)
    where
        F: Future<Output = Answer<T>> + 'static,
    {
        if self.busy.get_untracked() {
            return;
        }
        let own = self.begin();
        let guard = AbortGuard::new();
        let (work, toasts) = (work(guard.signal()), Toasts::here());
        self.guard.set_value(Some(guard));
        self.busy.set(true);
        spawn_local(async move {
            let answer = work.await;
            if self.latest.try_get_value() != Some(own) {
                return;
            }
            self.busy.set(false);
            match answer {
                Ok(answer) => then(answer),
                Err(error) => toasts.bad(explain(error)),
            }
        });
    }

    pub fn cancel(self) {
        self.begin();
        self.guard.set_value(None);
        self.busy.set(false);
    }

    fn begin(self) -> u32 {
        self.latest.update_value(|latest| *latest += 1);
        self.latest.get_value()
    }
}
