//! Making an export: of what, for which trainer, in which shape; beside it its first record. All of it stands in the address.

pub mod commands;
mod preview;
mod profiles;
mod query_params;
mod source;
mod toggles;

use domain::access::Role;
use domain::export::{ExportSpec, Profile};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use super::filters::Filters;
use preview::{Preview, PreviewPanel};
use ui::components::{Crumbs, Empty, act, set_title};
use ui::session::Project;
use ui::{address, api_client};

#[component]
pub fn NewExportPage() -> impl IntoView {
    set_title("New export");
    let project = Project::here();
    view! {
        {move || view! { <Crumbs above=vec![("Exports".to_owned(), address::project(&project.name(), "/exports"))] /> }}
        <h1>"New export"</h1>
        <Show
            when=move || project.may(Role::Runner)
            fallback=|| {
                view! {
                    <Empty title="You may download exports but not make them.">
                        <p>"Ask an admin of the project to make you a runner."</p>
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
    let profile = Memo::new(move |_| query_params::profile(&filters.params.read()));
    let choose = Callback::new(move |to: Profile| filters.choose(|params| query_params::with_profile(params, to)));
    let spec = Memo::new(move |_| query_params::spec(&filters.params.read()));
    let preview = Preview::of(spec);
    view! {
        <div class="columns">
            <div class="selection">
                <source::Source filters />
                <profiles::Profiles profile choose />
                <toggles::Shape filters profile problems=preview.problems />
                <Build spec />
            </div>
            <PreviewPanel preview spec />
        </div>
    }
}

#[component]
fn Build(spec: Memo<Option<ExportSpec>>) -> impl IntoView {
    let project = Project::here();
    let navigate = StoredValue::new_local(use_navigate());
    let busy = RwSignal::new(false);
    let build = move |_| {
        let Some(spec) = spec.get_untracked() else { return };
        let name = project.0.get_untracked();
        let to = name.clone();
        act(busy, "", async move { api_client::exports::create(&name, &spec).await }, move |export| {
            let to = address::project(&to, &format!("/exports/{}", export.id));
            navigate.with_value(|navigate| navigate(&to, NavigateOptions::default()));
        });
    };
    view! {
        <div class="actions">
            <button
                type="button"
                class="main"
                disabled=move || spec.read().is_none()
                aria-disabled=move || busy.get().to_string()
                on:click=build
            >
                "Build the export"
            </button>
        </div>
    }
}
