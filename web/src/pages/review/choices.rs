//! What can be chosen from: runs and corpora of the project, newest first.

use domain::api::{CorpusSummary, Page, RunSummary};
use leptos::prelude::*;

use super::agreement::short;
use ui::api_client::Answer;
use ui::components::{FormField, PagedList};
use ui::session::Project;
use ui::{api_client, format};

#[component]
pub fn RunChoice(
    label: &'static str,
    value: RwSignal<String>,
    /// What stands there if none is chosen.
    none: &'static str,
    wrong: Signal<Option<String>>,
) -> impl IntoView {
    let project = Project::here().name();
    let load = move |after| {
        let project = project.clone();
        async move { api_client::runs::list(&project, after).await }
    };
    let named = |run: RunSummary| {
        (run.id, format!("{}, {}, {} conversations", run.playbook, format::time(run.created_at), run.planned))
    };
    view! { <Choice what="runs" label value none wrong load named /> }
}

#[component]
pub fn CorpusChoice(
    label: &'static str,
    value: RwSignal<String>,
    none: &'static str,
    wrong: Signal<Option<String>>,
) -> impl IntoView {
    let project = Project::here().name();
    let load = move |after| {
        let project = project.clone();
        async move { api_client::corpora::list(&project, after).await }
    };
    let named =
        |corpus: CorpusSummary| (corpus.id, format!("{}, {} conversations", corpus.name, corpus.train + corpus.golden));
    view! { <Choice what="corpora" label value none wrong load named /> }
}

#[component]
fn Choice<T, F>(
    what: &'static str,
    label: &'static str,
    value: RwSignal<String>,
    none: &'static str,
    wrong: Signal<Option<String>>,
    load: impl Fn(Option<String>) -> F + Send + Sync + 'static,
    named: fn(T) -> (String, String),
) -> impl IntoView
where
    T: Clone + Send + Sync + 'static,
    F: Future<Output = Answer<Page<T>>> + 'static,
{
    let choose = move |options: Signal<Vec<(String, String)>>| {
        view! {
            <FormField label wrong>
                <Select value none options />
            </FormField>
        }
    };
    view! {
        <div class="stack">
            <PagedList what load empty=move || choose(Signal::stored(Vec::new())) let:rows>
                {choose(Signal::derive(move || rows.read().iter().cloned().map(named).collect()))}
            </PagedList>
        </div>
    }
}

#[component]
fn Select(value: RwSignal<String>, none: &'static str, options: Signal<Vec<(String, String)>>) -> impl IntoView {
    // An address may name one that is older than those that are listed.
    let listed =
        Memo::new(move |_| value.read().is_empty() || options.read().iter().any(|(id, _)| *id == *value.read()));
    let unlisted = move || {
        (!listed.get()).then(|| {
            view! {
                <option value=value.get() prop:selected=true>
                    {format!("{}, chosen before", short(&value.read()))}
                </option>
            }
        })
    };
    view! {
        <select on:change:target=move |event| value.set(event.target().value())>
            <option value="" prop:selected=move || value.read().is_empty()>
                {none}
            </option>
            {unlisted}
            {move || {
                let option = |(id, says): (String, String)| {
                    let own = id.clone();
                    view! {
                        <option value=id prop:selected=move || *value.read() == own>
                            {says}
                        </option>
                    }
                };
                options.get().into_iter().map(option).collect_view()
            }}
        </select>
    }
}
