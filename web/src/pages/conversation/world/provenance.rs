//! Where a value of the world comes from.

use leptos::prelude::*;

use crate::pages::conversation::cursor::Cursor;
use ui::api_client::{self, ApiError};
use ui::components::OriginOf;

const NOT_FOUND: u16 = 404;

/// Of the value that was picked, as the version that is seen has it; nothing if none was.
#[component]
pub fn Origin(
    conversation: String,
    picked: Memo<Option<String>>,
    version: Memo<usize>,
    cursor: Cursor,
) -> impl IntoView {
    let ask = move |pointer: String| {
        let (conversation, version) = (conversation.clone(), u32::try_from(version.get()).unwrap_or(u32::MAX));
        async move {
            match api_client::worlds::provenance(&conversation, version, &pointer).await {
                Err(ApiError::Refused(problem)) if problem.status == NOT_FOUND => Ok(None),
                answer => answer.map(Some),
            }
        }
    };
    view! {
        <OriginOf
            picked
            ask
            gone="nothing is there in this version."
            place=Callback::new(|seq| format!("event {seq}"))
            go=Callback::new(move |seq| cursor.go(seq))
            show="Show the call"
        />
    }
}
