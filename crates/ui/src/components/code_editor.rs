//! Where code is written: `CodeMirror` (web/editor), loaded when the first one is shown. Until it is there, and if it never
//! comes, a plain text field takes its place, so that nobody waits to write and nothing that was written is lost.

mod control;
mod handle;
mod help;

use std::rc::Rc;

use leptos::ev::KeyboardEvent;
use leptos::html::{Div, Textarea};
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;

pub use control::EditorControl;
use handle::{Editor, Options};
pub use help::{CodeLanguage, Completion, Completions, Language, Problem};

#[component]
pub fn CodeEditor(
    /// What stands in it. When this becomes something else than what was typed, it replaces it.
    #[prop(into)]
    text: Signal<String>,
    language: Language,
    /// Names it to screen readers.
    #[prop(into)]
    label: String,
    /// JSON Schema of a YAML document: completion, and what fields mean.
    #[prop(optional, into)]
    schema: Signal<Option<Value>>,
    /// All that is wrong with the text, underlined where it stands.
    #[prop(optional, into)]
    problems: Signal<Vec<Problem>>,
    /// Names that the schema cannot know.
    #[prop(optional, into)]
    completions: Signal<Vec<Completions>>,
    #[prop(optional, into)] read_only: Signal<bool>,
    /// What was typed, once the author pauses, leaves the editor or saves.
    #[prop(into)]
    on_change: Callback<String>,
    /// For Ctrl-S, or Cmd-S on a Mac; the text was told before.
    #[prop(optional, into)]
    on_save: Option<Callback<()>>,
    /// By which the page moves its reader within the text.
    #[prop(optional)]
    control: EditorControl,
) -> impl IntoView {
    let (host, field) = (NodeRef::<Div>::new(), NodeRef::<Textarea>::new());
    let (editor, failed) = (control.editor(), RwSignal::new(false));
    // What was typed last: it comes back as `text`, perhaps after more was typed.
    let typed = StoredValue::new(String::new());
    let change = move |text: String| {
        typed.try_set_value(text.clone());
        // It fails only if the page has gone.
        let _ = on_change.try_run(text);
    };
    let save = move || {
        if let Some(on_save) = on_save {
            let _ = on_save.try_run(());
        }
    };

    let name = label.clone();
    host.on_load(move |host| {
        spawn_local(async move {
            let made = handle::load().await.and_then(|module| {
                // Unmounted meanwhile: there is nobody to write.
                let Some(written) = field.try_get_untracked().flatten() else { return Ok(None) };
                let text = written.value();
                typed.try_set_value(text.clone());
                let options = Options { text: &text, language, label: &name };
                let editor = Editor::create(&module, &host, options, change, save)?;
                take_over(&editor, &written);
                Ok(Some(editor))
            });
            match made {
                Ok(made) => drop(editor.try_set(made.map(Rc::new))),
                Err(reason) => {
                    leptos::logging::error!("the code editor cannot be loaded: {reason:?}");
                    failed.try_set(true);
                }
            }
        });
    });
    Effect::new(move |_| {
        let text = text.get();
        if typed.with_value(|typed| *typed != text)
            && let Some(editor) = editor.get_untracked()
        {
            editor.replace(&text);
            typed.set_value(text);
        }
    });
    follow(editor, move |editor| editor.set_schema(schema.read().as_ref()));
    follow(editor, move |editor| editor.set_completions(&completions.read()));
    follow(editor, move |editor| editor.set_problems(&problems.read()));
    follow(editor, move |editor| editor.set_read_only(read_only.get()));
    // Not left to the signal's own end: what was not told yet is told now, while the page still listens.
    on_cleanup(move || drop(editor.try_update_untracked(Option::take)));

    view! {
        <div class="code-editor">
            <div node_ref=host></div>
            <Show when=move || editor.with(Option::is_none)>
                <textarea
                    aria-label=label.clone()
                    rows="16"
                    spellcheck="false"
                    autocapitalize="none"
                    prop:value=move || text.get()
                    readonly=move || read_only.get()
                    on:input=move |event| change(event_target_value(&event))
                    on:keydown=move |event| {
                        if is_save(&event) {
                            event.prevent_default();
                            save();
                        }
                    }
                    node_ref=field
                ></textarea>
                <Show when=move || failed.get()>
                    <p class="muted hint" role="status">
                        "The code editor could not be loaded. You can use this plain text field instead."
                    </p>
                </Show>
            </Show>
        </div>
    }
}

/// Does it now if the editor is there, when it comes, and whenever what it reads has changed.
fn follow(editor: RwSignal<Option<Rc<Editor>>, LocalStorage>, tell: impl Fn(&Editor) + 'static) {
    Effect::new(move |_| {
        if let Some(editor) = editor.get() {
            tell(&editor);
        }
    });
}

/// Whoever has begun to write in the plain field goes on where they are.
fn take_over(editor: &Editor, field: &leptos::web_sys::HtmlTextAreaElement) {
    let is_focused = document().active_element().is_some_and(|active| active.is_same_node(Some(field)));
    if is_focused {
        let offset = |at: Result<Option<u32>, _>| at.ok().flatten().unwrap_or_default();
        editor.select(offset(field.selection_start()), offset(field.selection_end()));
        editor.focus();
    }
}

fn is_save(event: &KeyboardEvent) -> bool {
    (event.ctrl_key() || event.meta_key()) && !event.alt_key() && event.key().eq_ignore_ascii_case("s")
}
