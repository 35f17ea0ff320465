//! What can be chosen from: runs and corpora of the project.

use domain::api::{Page, RunSummary};
use domain::corpus::CorpusSummary;
use leptos::prelude::*;

use crate::api_client::Answer;
use crate::session::Project;
use crate::{api_client, format};

/// The newest runs.
#[component]
pub fn RunChoice(
    value: RwSignal<String>,
    /// What stands there if none is chosen.
    none: &'static str,
) -> impl IntoView {
    let project = Project::here().name();
    let found = LocalResource::new(move || {
        let project = project.clone();
        async move { api_client::runs::list(&project, None).await }
    });
    let named = |run: RunSummary| {
        (run.id, format!("{}, {}, {} conversations", run.playbook, format::time(run.created_at), run.planned))
    };
    let options = Signal::derive(move || options(&found, named));
    view! { <Choice value none options /> }
}

/// The newest corpora.
#[component]
pub fn CorpusChoice(value: RwSignal<String>, none: &'static str) -> impl IntoView {
    let project = Project::here().name();
    let found = LocalResource::new(move || {
        let project = project.clone();
        async move { api_client::reviews::corpora(&project).await }
    });
    let named =
        |corpus: CorpusSummary| (corpus.id, format!("{}, {} conversations", corpus.name, corpus.train + corpus.golden));
    let options = Signal::derive(move || options(&found, named));
    view! { <Choice value none options /> }
}

fn options<T: Clone + 'static>(
    found: &LocalResource<Answer<Page<T>>>,
    named: impl Fn(T) -> (String, String),
) -> Vec<(String, String)> {
    let found = found.read();
    let page = found.as_ref().and_then(|answer| answer.as_ref().ok());
    page.map(|page| page.items.iter().cloned().map(named).collect()).unwrap_or_default()
}

#[component]
fn Choice(value: RwSignal<String>, none: &'static str, options: Signal<Vec<(String, String)>>) -> impl IntoView {
    view! {
        <select on:change:target=move |event| value.set(event.target().value())>
            <option value="" prop:selected=move || value.read().is_empty()>
                {none}
            </option>
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
