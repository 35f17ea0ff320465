//! The editor, with the document's files on one side and what helps to write on the other.

use domain::api::documents::DocumentFinding;
use domain::project::Kind;
use leptos::prelude::*;

use super::files::Files;
use super::help;
use super::problems::ProblemList;
use super::scenario::ScenarioSide;
use crate::pages::authoring::draft::{Draft, SourceLocation};
use crate::pages::authoring::local::schema_of;
use crate::pages::authoring::references::References;
use crate::pages::authoring::workflow::GraphSide;
use ui::components::{CodeEditor, Confirm, EditorControl, Problem, explain};

#[component]
pub fn Write() -> impl IntoView {
    let draft = Draft::here();
    let kind = draft.kind();
    let class = match kind {
        Kind::Scenario => "writing beside",
        Kind::Workflow => "writing folder drawn",
        kind if kind.is_one_file() => "writing",
        _ => "writing folder",
    };
    view! {
        <div class=class>
            {(!kind.is_one_file()).then(|| view! { <Files /> })}
            <div class="pane">
                {move || view! { <File path=draft.file.get() /> }}
                <ProblemList />
            </div>
            {(kind == Kind::Scenario).then(|| view! { <ScenarioSide /> })}
            {(kind == Kind::Workflow).then(|| view! { <GraphSide /> })}
        </div>
    }
}

/// One file; an editor each, so that nothing of one can be undone in another.
#[component]
fn File(path: String) -> impl IntoView {
    let (draft, references, control) = (Draft::here(), References::here(), EditorControl::default());
    lead(draft, path.clone(), control);
    let text = {
        let path = path.clone();
        Signal::derive(move || draft.files.read().get(&path).cloned().unwrap_or_default())
    };
    let problems = {
        let path = path.clone();
        Signal::derive(move || {
            let own = |found: &&DocumentFinding| found.file == path;
            draft.found.read().iter().filter(own).map(Problem::from).collect::<Vec<_>>()
        })
    };
    let change = {
        let path = path.clone();
        move |text: String| draft.write(&path, text)
    };
    let main = draft.main().get_untracked().0 == path;
    let (label, doomed, asked) = (path.clone(), path.clone(), path.clone());
    let removing = RwSignal::new(false);
    let remove = move |()| draft.files.update(|files| drop(files.remove(&doomed)));
    let loss = Signal::derive(move || {
        if draft.saved.read().files.contains_key(&asked) {
            format!("{asked} is removed from the document when you save it. Older versions keep it.")
        } else {
            format!("{asked} was never saved: its content will be lost.")
        }
    });
    view! {
        <div class="filename">
            <code>{path.clone()}</code>
            <Show when=move || !main && draft.may_write.get()>
                <button type="button" class="quiet" on:click=move |_| removing.set(true)>
                    "Remove this file"
                </button>
            </Show>
        </div>
        <Confirm title="Remove a file" text=loss yes_says="Remove" open=removing yes=remove />
        <CodeEditor
            text
            language=help::language(&path)
            label
            schema=references.schema(schema_of(draft.kind(), &path))
            problems
            completions=help::completions(draft, references, path.clone())
            read_only=Signal::derive(move || !draft.may_write.get())
            on_change=change
            on_save=move |()| draft.save(false)
            control
        />
        {move || {
            let error = references.no_help.get()?;
            Some(view! {
                <p class="stale" role="status">
                    {format!("The editor cannot offer all completions. {} ", explain(error))}
                    <button type="button" class="quiet" on:click=move |_| references.ask_again()>
                        "Try again"
                    </button>
                </p>
            })
        }}
    }
}

/// Leads the author to where they want to be, once the editor is there.
fn lead(draft: Draft, path: String, control: EditorControl) {
    Effect::new(move |_| {
        let Some(SourceLocation { file, pointer, line }) = draft.wanted.get() else { return };
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
