//! A conversation as it is now.

use std::time::Duration;

use domain::api::ConversationDetail;
use leptos::prelude::*;
use leptos::task::spawn_local;

use ui::api_client::{self, ApiError};
use ui::components::refresh;

/// How often is asked for what is still being played.
const EVERY: Duration = Duration::from_secs(2);

/// What is known of it.
#[derive(Clone, Copy)]
pub struct LiveConversation {
    pub detail: Signal<ConversationDetail>,
    /// Why it was not answered when it was last asked for, if it was not.
    pub lost: Signal<Option<ApiError>>,
    /// Asks for it now.
    pub again: Callback<()>,
}

/// Looks again until it has been played, and whenever it is told to.
pub fn followed(first: ConversationDetail) -> LiveConversation {
    let id = StoredValue::new(first.summary.id.clone());
    let plays = plays(&first);
    let (shown, lost) = (RwSignal::new(first), RwSignal::new(None));
    if plays {
        until_played(id.get_value(), shown, lost);
    }
    let again = Callback::new(move |()| {
        let id = id.get_value();
        spawn_local(async move {
            let answer = api_client::conversations::one(&id).await;
            lost.try_set(answer.as_ref().err().cloned());
            // If it does not come, what is there is still true of before.
            if let Ok(newest) = answer {
                shown.try_set(newest);
            }
        });
    });
    LiveConversation { detail: shown.into(), lost: lost.into(), again }
}

fn until_played(id: String, shown: RwSignal<ConversationDetail>, lost: RwSignal<Option<ApiError>>) {
    let going = RwSignal::new(true);
    let again = refresh(EVERY, going.into(), move || {
        let id = id.clone();
        async move { api_client::conversations::one(&id).await }
    });
    let (newest, error) = (again.newest(), again.error());
    Effect::new(move |_| lost.set(error.get()));
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
