//! The files of a document that is a folder.

use domain::finding::Grade;
use domain::project::DocumentId;
use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use crate::pages::authoring::draft::Draft;
use ui::components::FormField;

#[component]
pub fn Files() -> impl IntoView {
    let draft = Draft::here();
    let paths = Memo::new(move |_| draft.files.read().keys().cloned().collect::<Vec<_>>());
    view! {
        <nav class="files" aria-label="Files">
            <ul>
                <For each=move || paths.get() key=Clone::clone let:path>
                    <File path />
                </For>
            </ul>
            <Show when=move || draft.may_write.get()>
                <NewFile />
            </Show>
        </nav>
    }
}

#[component]
fn File(path: String) -> impl IntoView {
    let draft = Draft::here();
    let path = StoredValue::new(path);
    let wrong = Memo::new(move |_| {
        let bad = |found: &&domain::api::documents::DocumentFinding| {
            found.grade >= Grade::Error && path.with_value(|path| found.file == *path)
        };
        draft.found.read().iter().filter(bad).count()
    });
    let changed =
        Memo::new(move |_| path.with_value(|path| draft.files.read().get(path) != draft.saved.read().files.get(path)));
    let current = move || path.with_value(|path| if draft.file.get() == *path { "true" } else { "false" });
    view! {
        <li>
            <button type="button" class="quiet" aria-current=current on:click=move |_| draft.show(&path.get_value())>
                <span class="text">{short(&path.get_value())}</span>
                <Show when=move || changed.get()>
                    <span class="badge notable">"changed"</span>
                </Show>
                <Show when=move || { wrong.get() > 0 }>
                    <span class="badge bad">{move || wrong.get()}</span>
                </Show>
            </button>
        </li>
    }
}

/// Without the folder that all of them are in.
pub fn short(path: &str) -> String {
    path.splitn(3, '/').nth(2).unwrap_or(path).to_owned()
}

#[component]
fn NewFile() -> impl IntoView {
    let draft = Draft::here();
    let (name, wrong) = (RwSignal::new(String::new()), RwSignal::new(None::<String>));
    let add = move |event: SubmitEvent| {
        event.prevent_default();
        let place = draft.place();
        let path = format!("{}/{}/{}", place.id.kind.folder(), place.id.name, name.get_untracked().trim());
        if draft.files.with_untracked(|files| files.contains_key(&path)) {
            wrong.set(Some("This file exists already.".to_owned()));
        } else if DocumentId::of(&path).as_ref() != Ok(&place.id) {
            wrong.set(Some("Use letters, digits, _, - and ., with / between folders.".to_owned()));
        } else {
            wrong.set(None);
            name.set(String::new());
            draft.write(&path, String::new());
            draft.show(&path);
        }
    };
    view! {
        <form on:submit=add>
            <FormField label="Add a file" wrong>
                <input type="text" required autocomplete="off" spellcheck="false" placeholder="templates/answer.md.j2" bind:value=name />
            </FormField>
        </form>
    }
}
