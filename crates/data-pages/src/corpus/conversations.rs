//! The conversations that a corpus keeps.

use domain::api::{CorpusConversation, CorpusNeighbourParams, CorpusSummary};
use domain::corpus::Side;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;

use super::super::inputs::Choice;
use ui::components::{Badge, VirtualRows};
use ui::labels::{Tone, words};
use ui::session::Project;
use ui::{address, api_client};

#[component]
pub fn CorpusConversations(summary: CorpusSummary) -> impl IntoView {
    let options = NavigateOptions { scroll: false, ..NavigateOptions::default() };
    let (named, name) = query_signal_with_options::<String>("side", options);
    let side = Memo::<Option<Side>>::new(move |_| named.read().as_deref().and_then(|name| name.parse().ok()));
    let options = [("", "Both parts"), ("train", "Train"), ("golden", "Golden")];
    let project = Project::here();
    view! {
        <div class="toolbar">
            <Choice
                label="Part"
                options=options.map(|(key, says)| (key.to_owned(), says.to_owned()))
                value=Signal::derive(move || side.get().map(|side| side.to_string()).unwrap_or_default())
                change=Callback::new(move |to: String| name.set(Some(to).filter(|to| !to.is_empty())))
            />
        </div>
        {move || {
            let (side, project, id) = (side.get(), project.name(), summary.id.clone());
            let total = match side {
                None => summary.train + summary.golden,
                Some(Side::Train) => summary.train,
                Some(Side::Golden) => summary.golden,
            };
            let remember = format!("{id} {side:?}");
            let list = address::in_corpus(&id, CorpusNeighbourParams { split: side, dropped_by: None });
            let load = move |place| {
                let id = id.clone();
                async move { api_client::corpora::conversations(&id, side, place).await }
            };
            let row = move |row: CorpusConversation| {
                let href = format!("{}{list}", address::conversation(&project, &row.conversation));
                view! { <Row row href /> }.into_any()
            };
            let head = ViewFn::from(|| view! { <Head /> });
            view! {
                <div class="kept">
                    <VirtualRows label="Kept conversations" total=Signal::derive(move || Some(total)) load head row remember />
                </div>
            }
        }}
    }
}

#[component]
fn Head() -> impl IntoView {
    ["Scenario", "Persona", "Complexity", "Part"]
        .map(|name| view! { <span role="columnheader">{name}</span> })
        .collect_view()
}

#[component]
fn Row(row: CorpusConversation, href: String) -> impl IntoView {
    let tone = if row.split == Side::Golden { Tone::Notable } else { Tone::Neutral };
    view! {
        <span role="cell">
            <a href=href tabindex="-1">
                {row.scenario}
            </a>
        </span>
        <span role="cell">{row.persona}</span>
        <span role="cell">{words(&row.complexity)}</span>
        <span role="cell">
            <Badge tone text=row.split.into_str() />
        </span>
    }
}
