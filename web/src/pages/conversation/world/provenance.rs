//! Where a value of the world comes from.

use domain::api::Provenance;
use leptos::prelude::*;

use crate::api_client::{self, ApiError};
use crate::components::{Failure, Loading, LongText};
use crate::pages::conversation::cursor::Cursor;

const NOT_FOUND: u16 = 404;

/// Of the value that was picked; nothing if none was.
#[component]
pub fn Origin(conversation: String, picked: Memo<Option<String>>, cursor: Cursor) -> impl IntoView {
    let conversation = StoredValue::new(conversation);
    let answer = LocalResource::new(move || {
        let (conversation, pointer) = (conversation.get_value(), picked.get());
        async move {
            match pointer {
                Some(pointer) => Some((pointer.clone(), api_client::worlds::provenance(&conversation, &pointer).await)),
                None => None,
            }
        }
    });
    move || {
        picked.get()?;
        let body = match answer.get() {
            None | Some(None) => view! { <Loading what="its origin" /> }.into_any(),
            Some(Some((_, Ok(found)))) => view! { <Found found cursor /> }.into_any(),
            Some(Some((pointer, Err(ApiError::Refused(problem))))) if problem.status == NOT_FOUND => view! {
                <p>
                    "In the last version nothing stands at " <code>{pointer}</code>
                    ". Where a value comes from is known of what is still there at the end."
                </p>
            }
            .into_any(),
            Some(Some((_, Err(error)))) => view! { <Failure error retry=move || answer.refetch() /> }.into_any(),
        };
        Some(view! {
            <section class="origin" aria-label="Where did this value come from?" aria-live="polite">
                <h3>"Where did this value come from?"</h3>
                {body}
            </section>
        })
    }
}

#[component]
fn Found(found: Provenance, cursor: Cursor) -> impl IntoView {
    let Provenance { pointer, value, written_by } = found;
    let text = match value {
        serde_json::Value::String(text) => text,
        other => format!("{other:#}"),
    };
    let from = match written_by {
        None => view! { <p>"It stood there from the start."</p> }.into_any(),
        Some(writer) => view! {
            <p class="inline">
                <span>"Written by " <code>{writer.tool}</code> {format!(" in event {}.", writer.seq)}</span>
                <button type="button" class="small" on:click=move |_| cursor.go(writer.seq)>
                    "Show the call"
                </button>
            </p>
        }
        .into_any(),
    };
    view! {
        <code>{pointer}</code>
        <LongText text />
        {from}
    }
}
