//! Changes that buttons make.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api_client::Answer;
use crate::components::{Toasts, explain};

/// Asks for a change, unless one is on its way, and says what became of it. `then` is given the answer.
pub fn act<T: 'static>(
    busy: RwSignal<bool>,
    done: impl Into<String>,
    change: impl Future<Output = Answer<T>> + 'static,
    then: impl FnOnce(T) + 'static,
) {
    if busy.get_untracked() {
        return;
    }
    busy.set(true);
    let (toasts, done) = (Toasts::here(), done.into());
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
            Err(error) => toasts.bad(explain(error)),
        }
    });
}
