//! One export: how far it is, what is in it, and how it is taken away.

mod card;

use domain::access::Role;
use domain::api::{BuildState, ExportSummary};
use domain::export::SourceSpec;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;

use super::dataset_form::of_played;
use super::export_form::commands;
use super::exports::size;
use super::job_actions::JobActions;
use super::list_page::badge;
use super::progress::follow;
use card::Card;
use ui::components::{AsyncView, Command, CopyButton, Crumbs, Progress, Stale, act, set_title};
use ui::session::Project;
use ui::{address, api_client, format};

#[component]
pub fn ExportPage() -> impl IntoView {
    set_title("Export");
    let (id, project) = (address::use_id("export"), Project::here());
    let load = move || {
        let id = id.get();
        async move { api_client::exports::one(&id).await }
    };
    view! {
        {move || view! { <Crumbs above=vec![("Exports".to_owned(), address::project(&project.name(), "/exports"))] /> }}
        <AsyncView what="the export" load let:export>
            <Export export />
        </AsyncView>
    }
}

#[component]
fn Export(export: ExportSummary) -> impl IntoView {
    set_title(&export.file_name);
    let id = StoredValue::new(export.id.clone());
    let name = export.file_name.clone();
    let export = RwSignal::new(export);
    let lost = follow(
        export,
        |export| export.state == BuildState::Building,
        move || {
            let id = id.get_value();
            async move { api_client::exports::one(&id).await }
        },
    );
    let state = Memo::new(move |_| export.read().state);
    view! {
        <header class="heading">
            <h1>{name} " " {move || badge(state.get())}</h1>
            {move || view! { <Actions export state=state.get() /> }}
        </header>
        <Stale error=lost />
        {move || {
            let export = export.get();
            (export.state == BuildState::Building)
                .then(|| view! { <Progress label="Writing" done=export.done total=Some(export.total) /> })
        }}
        {move || match state.get() {
            BuildState::Building => ().into_any(),
            _ => view! { <ExportDetails export=export.get_untracked() /> }.into_any(),
        }}
    }
}

#[component]
fn Actions(export: RwSignal<ExportSummary>, state: BuildState) -> impl IntoView {
    let (project, busy) = (Project::here(), RwSignal::new(false));
    let (id, spec) = export.with_untracked(|export| (StoredValue::new(export.id.clone()), export.spec.clone()));
    let spec = StoredValue::new(spec);
    let file = api_client::exports::file(&id.get_value());
    let dataset = of_played(&project.name(), "export", &id.get_value());
    let may_run = project.may(Role::Runner);
    let cancel = move |()| {
        let cancelled = async move { api_client::exports::cancel(&id.get_value()).await };
        act(busy, "The export is no longer being built.", cancelled, move |new| export.set(new));
    };
    let navigate = StoredValue::new_local(use_navigate());
    let go = move |below: &str| {
        let to = address::project(&project.0.get_untracked(), below);
        navigate.with_value(|navigate| navigate(&to, NavigateOptions::default()));
    };
    let delete = move |()| {
        let deleted = async move { api_client::exports::remove(&id.get_value()).await };
        act(busy, "The export was deleted.", deleted, move |()| go("/exports"));
    };
    // What failed stays as it is and says why: what is made again is another export.
    let again = move |()| {
        let project = project.0.get_untracked();
        let created = async move { api_client::exports::create(&project, &spec.get_value()).await };
        act(busy, "The export is made again, with the same settings.", created, move |new| {
            go(&format!("/exports/{}", new.id));
        });
    };
    view! {
        <JobActions
            what="export"
            stage=state.stage()
            may=may_run
            busy
            cancel
            again
            delete
            loses="Its file is deleted for good. The corpus or the run that it was made from is kept."
        >
            <a class="button main" href=file download>
                "Download"
            </a>
            {may_run
                .then(|| {
                    view! {
                        <A href={dataset} {..} class="button">
                            "Make a dataset"
                        </A>
                    }
                })}
        </JobActions>
    }
}

#[component]
fn ExportDetails(export: ExportSummary) -> impl IntoView {
    let project = Project::here().name();
    let (below, says) = match &export.spec.source {
        SourceSpec::Run(rows) => (format!("/runs/{}", rows.id), "A run"),
        SourceSpec::Corpus(rows) => (format!("/corpora/{}", rows.id), "A corpus"),
    };
    let href = address::project(&project, &below);
    let dash = || "–".to_owned();
    let hash = export.hash.clone();
    view! {
        <dl class="strip">
            <div>
                <dt>"Profile"</dt>
                <dd>{export.spec.profile.into_str()}</dd>
            </div>
            <div>
                <dt>"Made from"</dt>
                <dd>
                    <A href>{says}</A>
                </dd>
            </div>
            <div>
                <dt>"Records"</dt>
                <dd>{export.rows.map_or_else(dash, format::count)}</dd>
            </div>
            <div>
                <dt>"Size"</dt>
                <dd>{export.bytes.map_or_else(dash, size)}</dd>
            </div>
            <div>
                <dt>"Created"</dt>
                <dd>{format!("{} by {}", format::time(export.created_at), export.created_by)}</dd>
            </div>
        </dl>
        {hash
            .map(|hash| {
                view! {
                    <p class="hash">
                        <span class="muted">"SHA-256 "</span>
                        <code>{hash.clone()}</code>
                        " "
                        <CopyButton text=hash />
                    </p>
                }
            })}
        {export.reason.clone().map(|reason| view! { <p class="refusal text">{reason}</p> })}
        {export.report.clone().map(|report| view! { <Card report /> })}
        <section class="panel" aria-labelledby="elsewhere">
            <h2 id="elsewhere">"From a terminal"</h2>
            {(export.state == BuildState::Ready)
                .then(|| {
                    view! {
                        <h3>"Download it"</h3>
                        <Command text=commands::download(&export.id, &export.file_name) label="Download with curl" />
                    }
                })}
            <h3>"Make this export again"</h3>
            <Command text=commands::cli(&export.spec, &export.file_name) label="Groundstate's command" />
            <Command text=commands::curl(&project, &export.spec) label="The same with curl" />
        </section>
    }
}
