//! A conversation as it is now.

use std::time::Duration;

use domain::api::ConversationDetail;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api_client;
use crate::components::refresh;

/// How often is asked for what is still being played.
const EVERY: Duration = Duration::from_secs(2);

/// Looks again until it has been played, and whenever it is told to.
pub fn followed(first: ConversationDetail) -> (Signal<ConversationDetail>, Callback<()>) {
    let id = StoredValue::new(first.summary.id.clone());
    let plays = plays(&first);
    let shown = RwSignal::new(first);
    if plays {
        until_played(id.get_value(), shown);
    }
    let again = Callback::new(move |()| {
        let id = id.get_value();
        spawn_local(async move {
            // If it does not come, what is there is still true of before.
            if let Ok(newest) = api_client::conversations::one(&id).await {
                shown.try_set(newest);
            }
        });
    });
    (shown.into(), again)
}

fn until_played(id: String, shown: RwSignal<ConversationDetail>) {
    let going = RwSignal::new(true);
    let again = refresh(EVERY, going.into(), move || {
        let id = id.clone();
        async move { api_client::conversations::one(&id).await }
    });
    let newest = again.newest();
    Effect::new(move |_| {
        let Some(newest) = newest.get() else { return };
        going.set(plays(&newest));
        if shown.with_untracked(|known| *known != newest) {
            shown.set(newest);
        }
    });
}

/// A reader who must not see the outcome yet still sees when it came to one.
const fn plays(detail: &ConversationDetail) -> bool {
    detail.summary.finished_at.is_none()
}
