//! The editor, with the document's files on one side and what helps to write on the other.

use domain::api::documents::Found;
use domain::project::Kind;
use leptos::prelude::*;

use super::draft::{Draft, Spot};
use super::files::Files;
use super::help;
use super::known::Known;
use super::problems::ProblemList;
use super::scenario::ScenarioSide;
use crate::components::{CodeEditor, EditorControl, Problem};

#[component]
pub fn Write() -> impl IntoView {
    let draft = Draft::here();
    let kind = draft.kind();
    let class = if kind == Kind::Scenario {
        "writing beside"
    } else if kind.is_one_file() {
        "writing"
    } else {
        "writing folder"
    };
    view! {
        <div class=class>
            {(!kind.is_one_file()).then(|| view! { <Files /> })}
            <div class="pane">
                {move || view! { <File path=draft.file.get() /> }}
                <ProblemList />
            </div>
            {(kind == Kind::Scenario).then(|| view! { <ScenarioSide /> })}
        </div>
    }
}

/// One file; an editor each, so that nothing of one can be undone in another.
#[component]
fn File(path: String) -> impl IntoView {
    let (draft, known, control) = (Draft::here(), Known::here(), EditorControl::default());
    lead(draft, path.clone(), control);
    let text = {
        let path = path.clone();
        Signal::derive(move || draft.files.read().get(&path).cloned().unwrap_or_default())
    };
    let problems = {
        let path = path.clone();
        Signal::derive(move || {
            let own = |found: &&Found| found.file == path;
            draft.found.read().iter().filter(own).map(Problem::from).collect::<Vec<_>>()
        })
    };
    let change = {
        let path = path.clone();
        move |text: String| draft.write(&path, text)
    };
    let main = draft.main().get_untracked().0 == path;
    let (label, doomed) = (path.clone(), path.clone());
    let remove = move |_| draft.files.update(|files| drop(files.remove(&doomed)));
    view! {
        <div class="filename">
            <code>{path.clone()}</code>
            <Show when=move || !main && draft.may_write.get()>
                <button type="button" class="quiet" on:click=remove.clone()>
                    "Remove this file"
                </button>
            </Show>
        </div>
        <CodeEditor
            text
            language=help::language(&path)
            label
            schema=help::schema(draft.kind(), &path)
            problems
            completions=help::completions(draft, known)
            read_only=Signal::derive(move || !draft.may_write.get())
            on_change=change
            on_save=move |()| draft.save(false)
            control
        />
    }
}

/// Leads the author to where they want to be, once the editor is there.
fn lead(draft: Draft, path: String, control: EditorControl) {
    Effect::new(move |_| {
        let Some(Spot { file, pointer, line }) = draft.wanted.get() else { return };
        if file != path || !control.is_there() {
            return;
        }
        draft.wanted.set(None);
        if pointer.is_empty() && line > 0 {
            control.reveal_line(line);
        } else {
            control.reveal(&pointer);
        }
        control.focus();
    });
}
