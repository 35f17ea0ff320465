//! Somebody else saved a version while this one was written: the author decides, and sees what the other one changed.

use domain::api::documents::Document;
use leptos::prelude::*;

use super::changes::Changes;
use super::draft::Draft;
use crate::components::{Dialog, Fetched};
use crate::{api_client, format};

#[component]
pub fn Conflict() -> impl IntoView {
    let draft = Draft::here();
    let open = RwSignal::new(false);
    Effect::new(move |_| {
        if draft.conflict.read().is_some() {
            open.set(true);
        }
    });
    Effect::new(move |_| {
        if !open.get() && draft.conflict.read_untracked().is_some() {
            draft.conflict.set(None);
        }
    });
    view! {
        <Dialog title="Somebody else was faster" open>
            {move || {
                let newest = draft.conflict.get()?;
                Some(view! { <Choice newest open /> })
            }}
        </Dialog>
    }
}

#[component]
fn Choice(newest: Document, open: RwSignal<bool>) -> impl IntoView {
    let draft = Draft::here();
    let (from, to) = (draft.base.get_untracked(), newest.saved.version);
    let by = if newest.saved.author.is_empty() { "A command".to_owned() } else { newest.saved.author.clone() };
    let at = format::time(newest.saved.created_at);
    let message = newest.saved.message.clone();
    let load = move || {
        let place = draft.place();
        async move { api_client::documents::diff(&place, from, to).await }
    };
    let theirs = newest.clone();
    let promote = draft.promoting.get_value();
    let over = if promote { "Save mine over theirs, and promote it" } else { "Save mine over theirs" };
    let overwrite = move |_| {
        draft.base.set(to);
        draft.saved.set(newest.clone());
        open.set(false);
        draft.save(promote);
    };
    let take = move |_| {
        draft.adopt(theirs.clone());
        open.set(false);
    };
    view! {
        <p>
            {format!("{by} saved v{to} at {at}. What you wrote was made from v{from}, and nothing of it is lost. This is what changed meanwhile:")}
        </p>
        {(!message.is_empty()).then(|| view! { <p class="muted text">{message}</p> })}
        <Fetched what="the changes" load let:diff>
            <Changes diff />
        </Fetched>
        <div class="actions after">
            <button type="button" class="main" on:click=overwrite>
                {over}
            </button>
            <button type="button" on:click=take>
                "Take theirs, drop mine"
            </button>
            <button type="button" on:click=move |_| open.set(false)>
                "Go on writing"
            </button>
        </div>
    }
}
