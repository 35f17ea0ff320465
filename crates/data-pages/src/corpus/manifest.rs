//! What the filter found and the corpus does not keep, with the reason of each.

use domain::api::{CorpusNeighbourParams, ManifestFormat, ManifestRow};
use domain::corpus::{Stage, Step};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;

use super::super::inputs::Choice;
use super::super::report::{cause, count};
use ui::components::VirtualRows;
use ui::session::Project;
use ui::{address, api_client};

#[component]
pub fn Manifest(id: String, funnel: Vec<Stage>) -> impl IntoView {
    let files = [("Manifest as JSON lines", ManifestFormat::Jsonl), ("Manifest as CSV", ManifestFormat::Csv)];
    let files = files.map(|(says, format)| {
        view! {
            <a class="button" href=api_client::corpora::manifest_file(&id, format) download>
                {says}
            </a>
        }
    });
    let funnel: Vec<Stage> = funnel.into_iter().filter(|stage| stage.dropped > 0).collect();
    view! {
        <div class="actions">{files}</div>
        {if funnel.is_empty() {
            view! { <p class="muted">"Nothing was dropped: the corpus keeps all that the filter found."</p> }.into_any()
        } else {
            view! { <Dropped id funnel /> }.into_any()
        }}
    }
}

#[component]
fn Dropped(id: String, funnel: Vec<Stage>) -> impl IntoView {
    let options = NavigateOptions { scroll: false, ..NavigateOptions::default() };
    let (named, name) = query_signal_with_options::<String>("dropped_by", options);
    let by = Memo::<Option<Step>>::new(move |_| named.read().as_deref().and_then(|name| name.parse().ok()));
    let all: u64 = funnel.iter().map(|stage| stage.dropped).sum();
    let mut choices = vec![(String::new(), format!("Any step ({})", count(all)))];
    choices.extend(
        funnel
            .iter()
            .map(|stage| (stage.step.to_string(), format!("{} ({})", cause(stage.step), count(stage.dropped)))),
    );
    let project = Project::here();
    view! {
        <div class="toolbar">
            <Choice
                label="Dropped by"
                options=choices
                value=Signal::derive(move || by.get().map(|by| by.to_string()).unwrap_or_default())
                change=Callback::new(move |to: String| name.set(Some(to).filter(|to| !to.is_empty())))
            />
        </div>
        {move || {
            let (by, project, id) = (by.get(), project.name(), id.clone());
            let dropped = |stage: &&Stage| by.is_none_or(|by| stage.step == by);
            let total: u64 = funnel.iter().filter(dropped).map(|stage| stage.dropped).sum();
            let remember = format!("{id} {by:?}");
            let list = address::in_corpus(&id, CorpusNeighbourParams { split: None, dropped_by: by });
            let load = move |place| {
                let id = id.clone();
                async move { api_client::corpora::dropped(&id, by, place).await }
            };
            let row = move |row: ManifestRow| {
                let href = format!("{}{list}", address::conversation(&project, &row.conversation));
                view! { <Row row href /> }.into_any()
            };
            let head = ViewFn::from(|| view! { <Head /> });
            view! {
                <div class="dropped-rows">
                    <VirtualRows
                        label="Dropped conversations"
                        total=Signal::derive(move || Some(total))
                        load
                        head
                        row
                        remember
                    />
                </div>
            }
        }}
    }
}

#[component]
fn Head() -> impl IntoView {
    ["Scenario", "Dropped by", "Reason"].map(|name| view! { <span role="columnheader">{name}</span> }).collect_view()
}

#[component]
fn Row(row: ManifestRow, href: String) -> impl IntoView {
    let reason = row.reason.unwrap_or_default();
    view! {
        <span role="cell">
            <a href=href tabindex="-1">
                {row.scenario}
            </a>
        </span>
        <span role="cell">{row.dropped_by.map(cause)}</span>
        <span role="cell" dir="auto" title=reason.clone()>
            {reason.clone()}
        </span>
    }
}
