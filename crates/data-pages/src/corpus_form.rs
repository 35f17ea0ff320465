//! Selecting a corpus: which conversations, and what becomes of them; beside it what would come of it.

mod preview;
mod quality;
mod steps;

use domain::access::Role;
use domain::api::{CorpusSummary, NewCorpus};
use domain::corpus::{Spec, name_problem};
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;

use super::chips::Chips;
use super::filters::{FacetCounts, Filters};
use preview::{PreviewPanel, PreviewState};
use ui::components::{Crumbs, Empty, FormError, FormField, Problems, Send, Toasts, set_title, settle};
use ui::session::Project;
use ui::{address, api_client};

#[component]
pub fn NewCorpusPage() -> impl IntoView {
    set_title("New corpus");
    let project = Project::here();
    view! {
        {move || view! { <Crumbs above=vec![("Corpora".to_owned(), address::project(&project.name(), "/corpora"))] /> }}
        <h1>"New corpus"</h1>
        <Show
            when=move || project.may(Role::Author)
            fallback=|| {
                view! {
                    <Empty title="You may read corpora but not make them.">
                        <p>"Ask an admin of the project to make you an author."</p>
                    </Empty>
                }
            }
        >
            <Form />
        </Show>
    }
}

#[component]
fn Form() -> impl IntoView {
    let filters = Filters::of_address();
    let counts = FacetCounts::of(filters);
    let rest = SelectionParams(filters);
    let spec = Memo::new(move |_| Spec { filter: filters.params.read().filter(), ..rest.read() });
    let previewed = PreviewState::of(spec);
    let project = Project::here();
    let explore = move || {
        // What becomes of them goes along, and comes back with what is selected there.
        let params = filters.params.read().selected();
        format!("{}{}", address::project(&project.name(), "/conversations"), params.query())
    };
    view! {
        <div class="columns">
            <div class="selection">
                <section class="panel" aria-labelledby="which">
                    <header class="heading">
                        <h2 id="which">"Conversations"</h2>
                        <A href={explore}>"Explore and filter further"</A>
                    </header>
                    <Chips filters />
                    <quality::Quality filters counts />
                </section>
                <steps::Steps rest problems=previewed.problems />
                <Save spec />
            </div>
            <PreviewPanel previewed />
        </div>
    }
}

/// What becomes of the conversations that are found. It stands in the address as the filter does.
#[derive(Clone, Copy)]
struct SelectionParams(Filters);

impl SelectionParams {
    fn read(self) -> Spec {
        self.0.params.read().selection()
    }

    fn update(self, change: impl FnOnce(&mut Spec)) {
        self.0.refine(|params| {
            let mut spec = params.selection();
            change(&mut spec);
            params.with_selection(&spec)
        });
    }
}

#[component]
fn Save(spec: Memo<Spec>) -> impl IntoView {
    let project = Project::here();
    let navigate = StoredValue::new_local(use_navigate());
    let (name, busy, problems) = (RwSignal::new(String::new()), RwSignal::new(false), Problems::default());
    let typed_wrong = Signal::derive(move || {
        let name = name.read();
        if name.is_empty() { None } else { name_problem(&name) }
    });
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        problems.clear();
        let new = NewCorpus { name: name.get_untracked(), spec: spec.get_untracked() };
        let project = project.0.get_untracked();
        let toasts = Toasts::here();
        spawn_local(async move {
            let answer = api_client::corpora::create(&project, &new).await;
            settle(busy, problems, toasts, answer, |corpus| {
                let page = shown(&project, &corpus);
                navigate.with_value(|navigate| navigate(&page, NavigateOptions::default()));
            });
        });
    };
    view! {
        <form class="panel" aria-labelledby="save" on:submit=save>
            <h2 id="save">"Save"</h2>
            <FormError why=problems />
            <FormField
                label="Name"
                hint="Lower-case letters, digits, _, - and . It is used in addresses and file names."
                wrong=typed_wrong
            >
                <input name="name" autocomplete="off" autocapitalize="none" spellcheck="false" required maxlength="64" bind:value=name />
            </FormField>
            <div>
                <Send label="Make the corpus" busy />
            </div>
        </form>
    }
}

fn shown(project: &str, corpus: &CorpusSummary) -> String {
    address::project(project, &format!("/corpora/{}", corpus.id))
}
