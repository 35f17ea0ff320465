//! Where a value of the world comes from.

use leptos::prelude::*;

use crate::api_client::{self, ApiError};
use crate::components::OriginOf;
use crate::pages::conversation::cursor::Cursor;

const NOT_FOUND: u16 = 404;

/// Of the value that was picked; nothing if none was.
#[component]
pub fn Origin(conversation: String, picked: Memo<Option<String>>, cursor: Cursor) -> impl IntoView {
    let ask = move |pointer: String| {
        let conversation = conversation.clone();
        async move {
            match api_client::worlds::provenance(&conversation, &pointer).await {
                Err(ApiError::Refused(problem)) if problem.status == NOT_FOUND => Ok(None),
                answer => answer.map(Some),
            }
        }
    };
    view! {
        <OriginOf
            picked
            ask
            gone="in the last version nothing stands there. Where a value comes from is known of what is still there at the end."
            place=Callback::new(|seq| format!("event {seq}"))
            go=Callback::new(move |seq| cursor.go(seq))
            show="Show the call"
        />
    }
}
