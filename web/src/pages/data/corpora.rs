//! The corpora of a project.

use domain::access::Role;
use domain::api::{CorpusState, CorpusSummary};
use leptos::prelude::*;
use leptos_router::components::A;

use super::report::count;
use super::rows::{follow_rows, row};
use ui::components::{Badge, Empty, PagedList, Stale, set_title};
use ui::labels::Tone;
use ui::session::Project;
use ui::{address, api_client, format};

#[component]
pub fn CorporaPage() -> impl IntoView {
    set_title("Corpora");
    let project = Project::here();
    let new = move || address::project(&project.name(), "/corpora/new");
    view! {
        <header class="heading">
            <h1>"Corpora"</h1>
            <Show when=move || project.may(Role::Author)>
                <A href={new} {..} class="button main">
                    "New corpus"
                </A>
            </Show>
        </header>
        {move || {
            let name = project.name();
            let load = move |after| {
                let name = name.clone();
                async move { api_client::corpora::list(&name, after).await }
            };
            view! {
                <PagedList what="corpora" load empty=|| view! { <NoCorpora /> } let:rows>
                    <List rows />
                </PagedList>
            }
        }}
    }
}

#[component]
fn NoCorpora() -> impl IntoView {
    let project = Project::here();
    let explore = move || address::project(&project.name(), "/conversations");
    view! {
        <Empty title="No corpus yet.">
            <p>
                "A corpus is a selection of conversations that never changes: filtered, without duplicates, balanced, and \
                 split into a training and a golden part. You export it."
            </p>
            <A href={explore} {..} class="button">
                "Explore conversations"
            </A>
        </Empty>
    }
}

#[component]
fn List(rows: RwSignal<Vec<CorpusSummary>>) -> impl IntoView {
    let project = Project::here();
    let lost = follow_rows(rows, move |after| {
        let name = project.0.get_untracked();
        async move { api_client::corpora::list(&name, after).await }
    });
    view! {
        <Stale error=lost />
        <table class="rows">
            <thead>
                <tr>
                    <th scope="col">"Name"</th>
                    <th scope="col">"State"</th>
                    <th scope="col" class="number">
                        "Train"
                    </th>
                    <th scope="col" class="number">
                        "Golden"
                    </th>
                    <th scope="col">"By"</th>
                    <th scope="col">"Created"</th>
                </tr>
            </thead>
            <tbody>
                <For each=move || rows.get() key=|corpus: &CorpusSummary| corpus.id.clone() let:corpus>
                    <Row own=row(rows, corpus) />
                </For>
            </tbody>
        </table>
    }
}

#[component]
fn Row(own: Memo<CorpusSummary>) -> impl IntoView {
    let corpus = own.get_untracked();
    let href = address::project(&Project::here().name(), &format!("/corpora/{}", corpus.id));
    view! {
        <tr>
            <td class="scenario">
                <A href>{corpus.name}</A>
            </td>
            <td>
                {move || {
                    let state = own.read().state;
                    view! { <Badge tone=tone(state) text=state.into_str() /> }
                }}
            </td>
            <td class="number">{move || count(own.read().train)}</td>
            <td class="number">{move || count(own.read().golden)}</td>
            <td>{corpus.created_by}</td>
            <td>
                <time datetime=corpus.created_at.to_rfc3339()>{format::time(corpus.created_at)}</time>
            </td>
        </tr>
    }
}

pub const fn tone(state: CorpusState) -> Tone {
    match state {
        CorpusState::Building => Tone::Notable,
        CorpusState::Ready => Tone::Good,
        CorpusState::Failed => Tone::Bad,
        CorpusState::Cancelled => Tone::Neutral,
    }
}
