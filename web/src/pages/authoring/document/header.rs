//! What stands above a document: its name, its state, and what can be done with it.

use domain::api::documents::Counts;
use domain::project::{Kind, PERSONA_MODEL};
use leptos::ev::keydown;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::pages::authoring::draft::Draft;
use crate::pages::authoring::list::DeleteDialog;
use crate::pages::authoring::words;
use ui::address;
use ui::components::{Badge, Changing, Confirm, Crumbs};
use ui::labels::Tone;

#[component]
pub fn Header() -> impl IntoView {
    let draft = Draft::here();
    let (place, kind) = (draft.place(), draft.kind());
    let discarding = RwSignal::new(false);
    let above =
        vec![(words::plural(kind).to_owned(), address::project(&place.project, &format!("/{}", kind.folder())))];
    let about = move || {
        let saved = draft.saved.read();
        if saved.about.title.is_empty() { saved.about.description.clone() } else { saved.about.title.clone() }
    };
    view! {
        <Crumbs above />
        <header class="document-head">
            <div class="named">
                <h1>{place.id.name}</h1>
                <p class="muted text">{about}</p>
                <State />
            </div>
            <Show when=move || draft.may_write.get()>
                <Actions discarding />
            </Show>
        </header>
        <Show when=move || draft.restored.get() && draft.dirty.get()>
            <p class="reminder" role="status">
                "Your unsaved changes were restored. "
                <button type="button" on:click=move |_| discarding.set(true)>
                    "Discard them"
                </button>
            </p>
        </Show>
        <Show when=move || draft.dirty.get() && !draft.is_stored.get()>
            <p class="reminder" role="status">
                "This browser does not keep your changes: they are lost if you leave this page before you save."
            </p>
        </Show>
        <Confirm
            title="Discard your changes"
            text=Signal::derive(move || {
                format!("All your unsaved changes will be lost. v{} is kept.", draft.saved.read().saved.version)
            })
            yes_says="Discard"
            open=discarding
            yes=move |()| draft.discard()
        />
    }
}

#[component]
fn State() -> impl IntoView {
    let draft = Draft::here();
    view! {
        <p class="badges" role="status">
            {move || {
                let saved = &draft.saved.read().saved;
                let tone = if saved.promoted { Tone::Good } else { Tone::Notable };
                let used = if saved.promoted { "is promoted" } else { "is a draft" };
                view! { <Badge tone text=format!("v{} {used}", saved.version) /> }
            }}
            <Show when=move || draft.dirty.get()>
                <Badge tone=Tone::Notable text="not saved" />
            </Show>
            {move || {
                let found = words::counted(Counts::of(&*draft.found.read()));
                found.into_iter().map(|(tone, text)| view! { <Badge tone text /> }).collect_view()
            }}
        </p>
    }
}

#[component]
fn Actions(discarding: RwSignal<bool>) -> impl IntoView {
    let draft = Draft::here();
    let deleting = RwSignal::new(None);
    let (place, navigate) = (draft.place(), use_navigate());
    let kind = draft.kind();
    // Without the persona model no profile could be read.
    let is_model = kind == Kind::Persona && place.id.name == PERSONA_MODEL;
    let listed = address::project(&place.project, &format!("/{}", kind.folder()));
    save_by_key(draft);
    let promoted = Memo::new(move |_| draft.saved.read().saved.promoted && !draft.dirty.get());
    let saved = Memo::new(move |_| !draft.dirty.get());
    let unsound = Memo::new(move |_| {
        let found = Counts::of(&*draft.found.read());
        found.critical + found.errors > 0
    });
    let busy = move || draft.saving.busy().to_string();
    view! {
        <div class="doing">
            <label>
                <span class="unseen">"What you changed, for the history"</span>
                <input type="text" maxlength="2000" placeholder="What you changed, for the history" bind:value=draft.message />
            </label>
            <button type="button" disabled=saved aria-disabled=busy title="Ctrl-S" on:click=move |_| draft.save(false)>
                "Save draft"
            </button>
            <button
                type="button"
                class="main"
                disabled=move || promoted.get() || unsound.get()
                aria-disabled=busy
                title=move || unsound.get().then_some("Runs use promoted versions: correct the errors first")
                on:click=move |_| draft.save(true)
            >
                {move || if saved.get() { "Promote" } else { "Save and promote" }}
            </button>
            <Show when=move || !saved.get()>
                <button type="button" on:click=move |_| discarding.set(true)>
                    "Discard changes"
                </button>
            </Show>
            {(!is_model)
                .then(|| {
                    view! {
                        <button type="button" class="danger" on:click=move |_| deleting.set(Some(draft.name()))>
                            "Delete"
                        </button>
                    }
                })}
        </div>
        <Changing change=draft.saving what="Saving: the server checks it and the documents that use it" />
        <DeleteDialog
            kind
            name=deleting
            done=move |_| {
                draft.discard();
                navigate(&listed, NavigateOptions::default());
            }
        />
    }
}

/// Ctrl-S saves wherever the author is on the page; the editor tells of its own, and says so.
fn save_by_key(draft: Draft) {
    let listening = window_event_listener(keydown, move |event| {
        let save = (event.ctrl_key() || event.meta_key()) && !event.alt_key() && event.key().eq_ignore_ascii_case("s");
        if save && !event.default_prevented() {
            event.prevent_default();
            draft.save(false);
        }
    });
    on_cleanup(move || listening.remove());
}
