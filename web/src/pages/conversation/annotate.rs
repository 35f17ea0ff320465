//! Writing a remark on a turn.

use domain::api::NewAnnotation;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::drafts::Drafts;
use super::form_keys::press;
use super::notes::Notes;
use ui::api_client;
use ui::components::{FormError, FormField, Problems, Send, Toasts};

#[component]
pub fn AnnotationForm(seq: Signal<u32>, notes: Notes, drafts: Drafts, close: Callback<()>) -> impl IntoView {
    let (text, labels) = (drafts.annotation, drafts.labels);
    let (busy, problems) = (drafts.sending, Problems::default());
    let leave = move || {
        if !drafts.is_sent() {
            close.run(());
        }
    };
    let toasts = Toasts::here();
    let save = move || {
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        problems.clear();
        spawn_local(async move {
            let labels = words(&labels.get_untracked());
            let new = NewAnnotation { seq: seq.get_untracked(), text: text.get_untracked(), labels };
            let answer = api_client::annotations::add(&notes.conversation(), &new).await;
            busy.try_set(false);
            match answer {
                Ok(made) => {
                    notes.annotations.try_update(|all| all.push(made));
                    toasts.good("Annotated.");
                    drafts.forget_annotation();
                    let _ = close.try_run(());
                }
                Err(error) => problems.set(error),
            }
        });
    };
    let field = NodeRef::<leptos::html::Textarea>::new();
    field.on_load(|field| drop(field.focus()));
    view! {
        <form
            class="panel turn-form"
            aria-label="Annotate"
            on:submit=move |event| {
                event.prevent_default();
                save();
            }
            on:keydown=move |event| press(&event, leave)
        >
            <FormError why=problems />
            <FormField label="Annotation" wrong=problems.at("/text")>
                <textarea rows="3" dir="auto" bind:value=text node_ref=field></textarea>
            </FormField>
            <FormField label="Labels" hint="As many as you like, with spaces between them: a-z, digits, _ and -." wrong=problems.at("/labels")>
                <input type="text" autocapitalize="none" spellcheck="false" bind:value=labels />
            </FormField>
            <div class="inline">
                <Send label="Save" busy />
                <button
                    type="button"
                    on:click=move |_| {
                        if !drafts.is_sent() {
                            drafts.forget_annotation();
                            close.run(());
                        }
                    }
                >
                    "Cancel"
                </button>
            </div>
        </form>
    }
}

fn words(text: &str) -> Vec<String> {
    text.split([' ', ',']).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}
