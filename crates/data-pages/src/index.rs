//! One search index: how far it is, and searching it.

use domain::access::Role;
use domain::api::{BuildState, Hit, IndexSummary, NewIndex};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;

use super::datasets::created;
use super::exports::size;
use super::job_actions::JobActions;
use super::list_page::badge;
use super::progress::follow;
use ui::components::{
    AsyncView, Crumbs, FormError, LongText, Problems, Progress, Send, Stale, TextField, act, send, set_title,
};
use ui::session::Project;
use ui::{address, api_client, format};

#[component]
pub fn IndexPage() -> impl IntoView {
    set_title("Index");
    let (id, project) = (address::use_id("index"), Project::here());
    let load = move || {
        let id = id.get();
        async move { api_client::indexes::one(&id).await }
    };
    view! {
        {move || view! { <Crumbs above=vec![("Indexes".to_owned(), address::project(&project.name(), "/indexes"))] /> }}
        <AsyncView what="the index" load let:index>
            <Index index />
        </AsyncView>
    }
}

#[component]
fn Index(index: IndexSummary) -> impl IntoView {
    set_title(&index.name);
    let (id, name) = (StoredValue::new(index.id.clone()), index.name.clone());
    let index = RwSignal::new(index);
    let lost = follow(
        index,
        |index| index.state == BuildState::Building,
        move || {
            let id = id.get_value();
            async move { api_client::indexes::one(&id).await }
        },
    );
    let state = Memo::new(move |_| index.read().state);
    view! {
        <header class="heading">
            <h1>{name} " " {move || badge(state.get())}</h1>
            {move || view! { <Actions index state=state.get() /> }}
        </header>
        <Stale error=lost />
        {move || {
            let index = index.get();
            let doing = index.doing.filter(|_| index.state == BuildState::Building);
            doing.map(|doing| view! { <Progress label="Building" done=doing.done total=doing.total /> })
        }}
        {move || view! { <Details index=index.get() /> }}
        {move || (state.get() == BuildState::Ready).then(|| view! { <Search id /> })}
    }
}

#[component]
fn Actions(index: RwSignal<IndexSummary>, state: BuildState) -> impl IntoView {
    let (project, busy) = (Project::here(), RwSignal::new(false));
    let before = index.get_untracked();
    let id = StoredValue::new(before.id);
    let new = StoredValue::new(NewIndex { name: before.name, dataset: before.dataset, columns: before.columns });
    let cancel = move |()| {
        let cancelled = async move { api_client::indexes::cancel(&id.get_value()).await };
        act(busy, "The index is no longer being built.", cancelled, move |new| index.set(new));
    };
    let navigate = StoredValue::new_local(use_navigate());
    let go = move |below: &str| {
        let to = address::project(&project.0.get_untracked(), below);
        navigate.with_value(|navigate| navigate(&to, NavigateOptions::default()));
    };
    let delete = move |()| {
        let deleted = async move { api_client::indexes::remove(&id.get_value()).await };
        act(busy, "The index was deleted.", deleted, move |()| go("/indexes"));
    };
    // Its name is free only once it is gone.
    let again = move |()| {
        let project = project.0.get_untracked();
        let created = async move {
            api_client::indexes::remove(&id.get_value()).await?;
            api_client::indexes::create(&project, &new.get_value()).await
        };
        act(busy, "The index is built again.", created, move |new| go(&format!("/indexes/{}", new.id)));
    };
    view! {
        <JobActions
            what="index"
            stage=state.stage()
            may=project.may(Role::Runner)
            busy
            cancel
            again
            delete
            loses="Its files are deleted for good. The dataset is kept, and the index can be built again."
        >
            ""
        </JobActions>
    }
}

#[component]
fn Details(index: IndexSummary) -> impl IntoView {
    let href = address::project(&Project::here().name(), &format!("/datasets/{}", index.dataset));
    let dash = || "–".to_owned();
    view! {
        <dl class="strip">
            <div>
                <dt>"Dataset"</dt>
                <dd>
                    <A href>{format!("{} · version {}", index.dataset_name, index.dataset_version)}</A>
                </dd>
            </div>
            <div>
                <dt>"Searches"</dt>
                <dd>
                    <code>{index.columns.text}</code>
                </dd>
            </div>
            <div>
                <dt>"Documents"</dt>
                <dd>{index.documents.map_or_else(dash, format::count)}</dd>
            </div>
            <div>
                <dt>"Size"</dt>
                <dd>{index.bytes.map_or_else(dash, size)}</dd>
            </div>
            <div>
                <dt>"Created"</dt>
                <dd>{created(index.created_at, &index.created_by)}</dd>
            </div>
        </dl>
        {index.reason.map(|reason| view! { <p class="refusal text">{reason}</p> })}
    }
}

#[component]
fn Search(id: StoredValue<String>) -> impl IntoView {
    let (query, found) = (RwSignal::new(String::new()), RwSignal::new(None::<Vec<Hit>>));
    let (problems, busy) = (Problems::default(), RwSignal::new(false));
    let submit = move |event: SubmitEvent| {
        let words = query.get_untracked();
        let asked = async move { api_client::indexes::search(&id.get_value(), &words).await };
        send(&event, busy, problems, asked, move |hits| found.set(Some(hits)));
    };
    view! {
        <form class="panel" role="search" aria-labelledby="search" on:submit=submit>
            <h2 id="search">"Search"</h2>
            <FormError why=problems />
            <TextField
                label="Words"
                value=query
                hint="Documents that hold more and rarer ones of them come first."
                wrong=problems.at("/query")
            />
            <div>
                <Send label="Search" busy />
            </div>
        </form>
        {move || found.get().map(|hits| view! { <Hits hits /> })}
    }
}

#[component]
fn Hits(hits: Vec<Hit>) -> impl IntoView {
    let says = match hits.len() {
        0 => "No document has one of these words.".to_owned(),
        1 => "One document.".to_owned(),
        n => format!("The {n} documents that fit best."),
    };
    view! {
        <p class="muted" role="status">
            {says}
        </p>
        <ol class="hits">{hits.into_iter().map(|hit| view! { <Document hit /> }).collect_view()}</ol>
    }
}

#[component]
fn Document(hit: Hit) -> impl IntoView {
    let Hit { id, title, text, url, score } = hit;
    let about = format!("{id} · score {score:.2}");
    view! {
        <li class="panel">
            <h3 dir="auto">{if title.is_empty() { id } else { title }}</h3>
            <LongText text />
            <p class="muted hint">{about}</p>
            {(!url.is_empty()).then(|| view! { <DocumentAddress url /> })}
        </li>
    }
}

/// A link only if it leads to the web: rows may hold anything.
#[component]
fn DocumentAddress(url: String) -> impl IntoView {
    let link = url.starts_with("https://") || url.starts_with("http://");
    let address = if link {
        let href = url.clone();
        view! {
            <a href=href rel="noopener noreferrer">
                {url}
            </a>
        }
        .into_any()
    } else {
        url.into_any()
    };
    view! { <p class="hint">{address}</p> }
}
