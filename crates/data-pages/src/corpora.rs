//! The corpora of a project.

use domain::access::Role;
use domain::api::CorpusSummary;
use leptos::prelude::*;
use leptos_router::components::A;

use super::list_page::{Column, ListPage, NewButton, figure, link, number, state, text};
use super::report::count;
use ui::components::Empty;
use ui::session::Project;
use ui::{address, api_client, format};

const NEW: NewButton = NewButton { label: "New corpus", path: "/corpora/new", role: Role::Author };
const COLUMNS: &[Column] =
    &[text("Name"), text("State"), number("Train"), number("Golden"), text("By"), text("Created")];

#[component]
pub fn CorporaPage() -> impl IntoView {
    let load = |project: String, after| async move { api_client::corpora::list(&project, after).await };
    view! { <ListPage title="Corpora" what="corpora" new=NEW columns=COLUMNS load empty cells /> }
}

fn empty() -> AnyView {
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
    .into_any()
}

fn cells(own: Memo<CorpusSummary>) -> AnyView {
    let CorpusSummary { id, name, created_by, created_at, .. } = own.get_untracked();
    view! {
        {link("corpora", &id, name)}
        {state(own)}
        {figure(own, |corpus| Some(count(corpus.train)))}
        {figure(own, |corpus| Some(count(corpus.golden)))}
        <td>{created_by}</td>
        <td>
            <time datetime=created_at.to_rfc3339()>{format::time(created_at)}</time>
        </td>
    }
    .into_any()
}
