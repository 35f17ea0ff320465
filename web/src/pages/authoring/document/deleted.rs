//! The address of a document that is not there: it never was, or it was deleted and can come back.

use domain::access::Role;
use domain::api::documents::{DocumentVersion, Restoration};
use leptos::prelude::*;
use leptos_router::components::A;

use crate::pages::authoring::words;
use ui::api_client::documents::DocumentRef;
use ui::components::{AsyncView, Change, Changing, Crumbs};
use ui::session::Project;
use ui::{address, api_client, format};

#[component]
pub fn DeletedDocument(place: DocumentRef, restored: impl Fn() + Copy + Send + Sync + 'static) -> impl IntoView {
    let kind = place.id.kind;
    let list = address::project(&place.project, &format!("/{}", kind.folder()));
    let above = vec![(words::plural(kind).to_owned(), list.clone())];
    let load = {
        let place = place.clone();
        move || {
            let place = place.clone();
            async move {
                match api_client::documents::versions(&place, None).await {
                    // Of a document that never was there are no versions, which is no failure here.
                    Err(error) if error.is_missing() => Ok(Vec::new()),
                    answer => answer.map(|page| page.items),
                }
            }
        }
    };
    let title = format!("There is no {}.", place.id);
    let place = StoredValue::new(place);
    view! {
        <Crumbs above />
        <section class="notice">
            <h1>{title}</h1>
            <p>
                "Check the address, or choose from "
                <A href=list>"the list"</A>
                "."
            </p>
            <AsyncView what="its versions" load let:versions>
                <Restore place=place.get_value() versions restored />
            </AsyncView>
        </section>
    }
}

#[component]
fn Restore(
    place: DocumentRef,
    versions: Vec<DocumentVersion>,
    restored: impl Fn() + Copy + Send + Sync + 'static,
) -> impl IntoView {
    let last = versions.iter().find(|version| !version.deleted).map(|version| version.version);
    let (Some(newest), Some(last)) = (versions.into_iter().next(), last) else { return ().into_any() };
    let by = if newest.author.is_empty() { "a command".to_owned() } else { newest.author };
    let (restoring, may) = (Change::new(), Project::here().may(Role::Author));
    let restore = move |_| {
        let place = place.clone();
        let wanted = Restoration { version: last, base_version: Some(newest.version), ..Restoration::default() };
        let change = move |signal| async move { api_client::documents::restore(&signal, &place, &wanted).await };
        restoring.act("It was restored as a draft.".to_owned(), change, move |_| restored());
    };
    view! {
        <p>{format!("It was deleted by {by} at {}.", format::time(newest.created_at))}</p>
        {may
            .then(|| {
                view! {
                    <button type="button" class="main" aria-disabled=move || restoring.busy().to_string() on:click=restore>
                        {format!("Restore v{last}")}
                    </button>
                    <Changing change=restoring what="Restoring" />
                }
            })}
    }
    .into_any()
}
