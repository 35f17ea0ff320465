//! Changes that buttons make.

mod change;
mod pending_request;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api_client::Answer;
use crate::components::{Toasts, explain};

pub use change::Change;
pub use pending_request::PendingRequest;

/// Asks for a change, unless one is on its way, and says what became of it. `then` is given the answer.
pub fn act<T: 'static>(
    busy: RwSignal<bool>,
    done: impl Into<String>,
    change: impl Future<Output = Answer<T>> + 'static,
    then: impl FnOnce(T) + 'static,
) {
    attempt(busy, done.into(), change, then, || ());
}

/// The same for what may be shown before the server has agreed, because nothing else hangs on it: `value` is `to` at once,
/// what the server makes of it once it has answered, and what it was before if the server refuses.
pub fn act_at_once<T: Clone + Send + Sync + 'static>(
    busy: RwSignal<bool>,
    done: impl Into<String>,
    value: RwSignal<T>,
    to: T,
    change: impl Future<Output = Answer<T>> + 'static,
) {
    if busy.get_untracked() {
        return;
    }
    let before = value.get_untracked();
    value.set(to);
    attempt(busy, done.into(), change, move |kept| value.set(kept), move || value.set(before));
}

fn attempt<T: 'static>(
    busy: RwSignal<bool>,
    done: String,
    change: impl Future<Output = Answer<T>> + 'static,
    then: impl FnOnce(T) + 'static,
    refused: impl FnOnce() + 'static,
) {
    if busy.get_untracked() {
        return;
    }
    busy.set(true);
    let toasts = Toasts::here();
    spawn_local(async move {
        let answer = change.await;
        // The reader may have left the page meanwhile: what is said then is said, and nothing of it is changed.
        let left = busy.try_set(false).is_some();
        match answer {
            Ok(answer) => {
                if !done.is_empty() {
                    toasts.good(done);
                }
                if !left {
                    then(answer);
                }
            }
            Err(error) => {
                toasts.bad(explain(error));
                if !left {
                    refused();
                }
            }
        }
    });
}
