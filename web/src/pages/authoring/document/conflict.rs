//! Somebody else saved a version while this one was written: the author decides, and sees what the other one changed.

use domain::api::documents::Document;
use leptos::prelude::*;

use super::changes::Changes;
use crate::pages::authoring::draft::Draft;
use ui::components::{AsyncView, Dialog};
use ui::{api_client, format};

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
        <Dialog title="Somebody else saved a newer version" open>
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
    // With nothing to save, only which version is to be used is asked.
    let unsaved = draft.dirty.get_untracked();
    let from = if unsaved { draft.base.get_untracked() } else { draft.saved.read_untracked().saved.version };
    let to = newest.saved.version;
    let by = if newest.saved.author.is_empty() { "A command".to_owned() } else { newest.saved.author.clone() };
    let at = format::time(newest.saved.created_at);
    let message = newest.saved.message.clone();
    let load = move || {
        let place = draft.place();
        async move { api_client::documents::diff(&place, from, to).await }
    };
    let says = if unsaved {
        format!(
            "{by} saved v{to} at {at}. Your version was made from v{from}, and nothing of it is lost. These changes were made meanwhile:"
        )
    } else {
        format!(
            "{by} saved v{to} at {at}, and you have changed nothing since v{from}. Nothing was promoted. These changes were made meanwhile:"
        )
    };
    let choices = if unsaved {
        view! { <UnsavedConflict newest open /> }.into_any()
    } else {
        view! { <PromotionConflict newest open /> }.into_any()
    };
    view! {
        <p>{says}</p>
        {(!message.is_empty()).then(|| view! { <p class="muted text">{message}</p> })}
        <AsyncView what="the changes" load let:diff>
            <Changes diff />
        </AsyncView>
        <div class="actions after">{choices}</div>
    }
}

#[component]
fn UnsavedConflict(newest: Document, open: RwSignal<bool>) -> impl IntoView {
    let draft = Draft::here();
    let theirs = newest.clone();
    let promote = draft.promoting.get_value();
    let over = if promote { "Save mine over theirs, and promote it" } else { "Save mine over theirs" };
    let overwrite = move |_| {
        draft.base.set(newest.saved.version);
        draft.saved.set(newest.clone());
        open.set(false);
        draft.save(promote);
    };
    let take = move |_| {
        draft.adopt(theirs.clone());
        open.set(false);
    };
    view! {
        <button type="button" class="main" on:click=overwrite>
            {over}
        </button>
        <button type="button" on:click=take>
            "Use theirs, discard mine"
        </button>
        <button type="button" on:click=move |_| open.set(false)>
            "Continue editing"
        </button>
    }
}

/// Their version is the only one that can be promoted, and it is never written over.
#[component]
fn PromotionConflict(newest: Document, open: RwSignal<bool>) -> impl IntoView {
    let draft = Draft::here();
    let (version, promoted) = (newest.saved.version, newest.saved.promoted);
    let newest = StoredValue::new(newest);
    let show = move || {
        draft.adopt(newest.get_value());
        open.set(false);
    };
    let promote = move |_| {
        show();
        draft.save(true);
    };
    view! {
        <button type="button" class="main" on:click=move |_| show()>
            {format!("Show v{version}")}
        </button>
        {(!promoted).then(|| {
            view! {
                <button type="button" on:click=promote>
                    {format!("Promote v{version}")}
                </button>
            }
        })}
        <button type="button" on:click=move |_| open.set(false)>
            "Cancel"
        </button>
    }
}
