//! A new document: empty with hints, or a copy of another one.

use domain::api::documents::{DocumentListParams, DocumentSummary};
use domain::api::trials::ImportNote;
use domain::project::{DocumentId, Kind, PERSONA_MODEL};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;
use strum::VariantArray;

use super::interface::{InterfaceField, Kind as Interface};
use super::start::{Notes, Origin, create};
use ui::api_client::documents::DocumentRef;
use ui::components::{
    AsyncView, Change, Changing, Dialog, FirstRows, FormError, FormField, MoreRows, Problems, Send, Suggest,
    UnsavedInput,
};
use ui::session::Project;
use ui::{address, api_client};

/// What a document begins as: a copy of another one.
const COPY: &str = "copy";

#[component]
pub fn NewDialog(
    kind: Kind,
    open: RwSignal<bool>,
    /// Hears of a new document that is not shown at once.
    #[prop(into)]
    made: Callback<()>,
) -> impl IntoView {
    let project = Project::here();
    let load = move || {
        let project = project.name();
        async move {
            let mut existing = api_client::documents::all(&project, kind, DocumentListParams::default()).await?;
            // Profiles are copied; what they are made of exists once, at a place of its own.
            existing.retain(|document| kind != Kind::Persona || document.name != PERSONA_MODEL);
            let playbooks = match kind {
                Kind::Scenario => {
                    api_client::documents::all(&project, Kind::Playbook, DocumentListParams::default()).await?
                }
                _ => Vec::new(),
            };
            Ok((existing, playbooks))
        }
    };
    view! {
        <Dialog title=format!("New {kind}") open>
            <AsyncView what="the documents" load let:known>
                <Form kind existing=known.0 playbooks=known.1 created=made />
            </AsyncView>
        </Dialog>
    }
}

#[component]
fn Form(
    kind: Kind,
    existing: Vec<DocumentSummary>,
    playbooks: Vec<DocumentSummary>,
    created: Callback<()>,
) -> impl IntoView {
    let first = |all: &[DocumentSummary]| all.first().map(|first| first.name.clone()).unwrap_or_default();
    let (name, from) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let (original, playbook) = (RwSignal::new(first(&existing)), RwSignal::new(first(&playbooks)));
    let (interface, unread) = (RwSignal::new(String::new()), RwSignal::new(None::<String>));
    let (problems, making) = (Problems::default(), Change::new());
    let wrong = RwSignal::new(None::<String>);
    let (project, navigate) = (Project::here(), use_navigate());
    let (made, typed) = (RwSignal::new(None::<(String, Notes)>), UnsavedInput::here());
    let send = move |event: SubmitEvent| {
        event.prevent_default();
        let wished = name.get_untracked().trim().to_owned();
        wrong.set(DocumentId::new(kind, &wished).err());
        if wrong.read_untracked().is_some() {
            return;
        }
        unread.set(None);
        let from = from.get_untracked();
        let origin = match from.parse().ok().map(|kind: Interface| kind.read(&interface.read_untracked())) {
            Some(Ok(wanted)) => Origin::Interface(wanted),
            Some(Err(why)) => return unread.set(Some(why)),
            None if from == COPY => Origin::Copy(original.get_untracked()),
            None => Origin::Nothing { playbook: playbook.get_untracked() },
        };
        let (place, navigate) = (DocumentRef::new(project.name(), kind, wished), navigate.clone());
        let page = address::document(&place.project, kind, &place.id.name);
        let make = move |signal| async move { create(&signal, &place, origin).await };
        making.send(problems, make, move |notes| {
            if notes.is_empty() {
                navigate(&page, NavigateOptions::default());
            } else {
                typed.forget();
                made.set(Some((page, notes)));
                created.run(());
            }
        });
    };
    let option = |name: String| view! { <option value=name.clone()>{name.clone()}</option> };
    let originals = StoredValue::new(existing.into_iter().map(|document| document.name).collect::<Vec<_>>());
    let is_copied = Memo::new(move |_| *from.read() == COPY);
    let names: Vec<String> = playbooks.into_iter().map(|one| one.name).collect();
    let choices = (kind == Kind::Scenario).then(|| StoredValue::new(names));
    view! {
        {move || made.get().map(|(href, notes)| view! { <ImportResult href notes /> })}
        <form class="stack" hidden=move || made.read().is_some() on:submit=send>
            <FormError why=problems />
            <FormField label="Name" hint="Lower-case letters, digits, _ and -; it does not change later." wrong>
                <input type="text" required autocomplete="off" autocapitalize="none" spellcheck="false" bind:value=name />
            </FormField>
            <FormField label="Start from">
                <select bind:value=from>
                    <option value="">"An example to change"</option>
                    {(kind == Kind::Playbook)
                        .then(|| {
                            let option = |kind: &Interface| view! { <option value=kind.into_str()>{kind.label()}</option> };
                            Interface::VARIANTS.iter().map(option).collect_view()
                        })}
                    {originals
                        .with_value(|all| !all.is_empty())
                        .then(|| view! { <option value=COPY>{format!("A copy of another {kind}")}</option> })}
                </select>
            </FormField>
            <Show when=move || is_copied.get()>
                <Suggest
                    label="Copy of"
                    id="originals"
                    names=originals.get_value()
                    value=original.into()
                    choose=Callback::new(move |name| original.set(name))
                />
            </Show>
            {move || {
                from.read().parse().ok().map(|kind| view! { <InterfaceField kind text=interface wrong=unread /> })
            }}
            {choices
                .map(|choices| {
                    view! {
                        <Show when=move || from.read().is_empty()>
                            <FormField label="Playbook">
                                <select bind:value=playbook>{choices.get_value().into_iter().map(option).collect_view()}</select>
                            </FormField>
                        </Show>
                    }
                })}
            <p>
                <Send label="Create" busy=making.waits() />
            </p>
            <Changing change=making what="Creating it" />
        </form>
    }
}

/// What became of an interface, before the author goes on to the playbook.
#[component]
fn ImportResult(href: String, notes: Notes) -> impl IntoView {
    let Notes { skipped, changed } = notes;
    view! {
        <div class="stack" role="status">
            <p>"The playbook was created as a draft. Parts of the API could not be imported, or were changed:"</p>
            <ImportNotes heading="Not imported" notes=skipped />
            <ImportNotes heading="Imported in another form" notes=changed />
            <p>
                <A href {..} class="button main">
                    "Go to the playbook"
                </A>
            </p>
        </div>
    }
}

#[component]
fn ImportNotes(heading: &'static str, notes: Vec<ImportNote>) -> impl IntoView {
    let (first, all) = (FirstRows::new(), notes.len());
    let row = |note: ImportNote| {
        view! {
            <li class="text">
                <code>{note.about}</code>
                ": "
                {note.what}
            </li>
        }
    };
    (all > 0).then(|| {
        view! {
            <section>
                <h3>{heading}</h3>
                <ul>{first.rows(notes, row)}</ul>
                <MoreRows first all=Signal::stored(all) />
            </section>
        }
    })
}
