//! Deleting a document, after a look at what needs it.

use domain::api::documents::{Changes, UsedBy};
use domain::project::Kind;
use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use crate::pages::authoring::uses::Uses;
use ui::api_client;
use ui::api_client::documents::DocumentRef;
use ui::components::{AsyncView, Change, Changing, Dialog, FormField};
use ui::session::Project;

/// Asks while `name` names a document; `done` hears what was done.
#[component]
pub fn DeleteDialog(
    kind: Kind,
    name: RwSignal<Option<String>>,
    #[prop(into)] done: Callback<Changes>,
) -> impl IntoView {
    let open = RwSignal::new(false);
    Effect::new(move |_| {
        if name.read().is_some() {
            open.set(true);
        }
    });
    Effect::new(move |_| {
        if !open.get() && name.read_untracked().is_some() {
            name.set(None);
        }
    });
    view! {
        <Dialog title=format!("Delete a {kind}") open>
            {move || {
                let place = DocumentRef::new(Project::here().name(), kind, name.get()?);
                Some(view! { <Question place open done /> })
            }}
        </Dialog>
    }
}

#[component]
fn Question(place: DocumentRef, open: RwSignal<bool>, done: Callback<Changes>) -> impl IntoView {
    let load = {
        let place = place.clone();
        move || {
            let place = place.clone();
            async move { api_client::documents::used_by(&place).await }
        }
    };
    let place = StoredValue::new(place);
    view! {
        <AsyncView what="what needs it" load let:uses>
            <Answer place=place.get_value() uses open done />
        </AsyncView>
    }
}

#[component]
fn Answer(place: DocumentRef, uses: UsedBy, open: RwSignal<bool>, done: Callback<Changes>) -> impl IntoView {
    let (message, deleting) = (RwSignal::new(String::new()), Change::new());
    let name = place.id.name.clone();
    let needed = !uses.documents.is_empty();
    let delete = move |event: SubmitEvent| {
        event.prevent_default();
        let (place, message) = (place.clone(), message.get_untracked());
        let said = format!("{} is deleted. Its versions stay and can be restored.", place.id);
        let change = move |signal| async move { api_client::documents::delete(&signal, &place, &message).await };
        deleting.act(said, change, move |changes| {
            open.set(false);
            done.run(changes);
        });
    };
    view! {
        <p>
            <strong class="text">{name}</strong>
            {if needed {
                " is needed by other documents. Change or delete them first."
            } else {
                " is not needed by any document. Its versions are kept: open its address again to restore it."
            }}
        </p>
        <Uses uses />
        {(!needed)
            .then(|| {
                view! {
                    <form on:submit=delete class="stack">
                        <FormField label="Why" hint="For the history. Optional.">
                            <input type="text" maxlength="2000" bind:value=message />
                        </FormField>
                        <p>
                            <button type="submit" class="danger" aria-disabled=move || deleting.busy().to_string()>
                                "Delete"
                            </button>
                        </p>
                        <Changing change=deleting what="Deleting: the server checks the remaining documents" />
                    </form>
                }
            })}
    }
}
