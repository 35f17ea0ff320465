//! Two profiles side by side. The address says which one the page's own is compared with.

use domain::api::documents::DocumentListParams;
use std::sync::Arc;

use domain::document;
use domain::project::{Kind, PERSONA_MODEL};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;

use super::model::with_model;
use super::table::Table;
use crate::pages::authoring::draft::Draft;
use ui::api_client;
use ui::api_client::documents::DocumentRef;
use ui::components::{AsyncView, FormField};
use ui::session::Project;

#[component]
pub fn ComparePanel() -> impl IntoView {
    let (draft, project) = (Draft::here(), Project::here());
    let options = NavigateOptions { scroll: false, ..NavigateOptions::default() };
    let (with, compare) = query_signal_with_options::<String>("with", options);
    let load = move || {
        let (project, own) = (project.name(), draft.name());
        async move {
            let all = api_client::documents::all(&project, Kind::Persona, DocumentListParams::default()).await?;
            let names = all.into_iter().map(|other| other.name);
            Ok(names.filter(|name| *name != own && name != PERSONA_MODEL).collect::<Vec<_>>())
        }
    };
    let option = move |name: String| {
        let (value, says) = (name.clone(), name.clone());
        let selected = move || with.get().as_ref() == Some(&name);
        view! {
            <option value=value prop:selected=selected>
                {says}
            </option>
        }
    };
    view! {
        <AsyncView what="the other profiles" load let:names>
            <div class="drawing">
                <FormField label="Compare with">
                    <select on:change:target=move |event| {
                        compare.set(Some(event.target().value()).filter(|name| !name.is_empty()));
                    }>
                        <option value="">"Choose a profile"</option>
                        {names.into_iter().map(option).collect_view()}
                    </select>
                </FormField>
            </div>
        </AsyncView>
        {move || with.get().map(|name| view! { <OtherProfile name /> })}
    }
}

#[component]
fn OtherProfile(name: String) -> impl IntoView {
    let project = Project::here();
    let shown = name.clone();
    let load = move || {
        let place = DocumentRef::new(project.name(), Kind::Persona, name.clone());
        async move { api_client::documents::one(&place).await }
    };
    view! {
        <AsyncView what="the other profile" load let:other>
            {
                let (path, text) = other.files.into_iter().next().unwrap_or_default();
                let value = Arc::new(document::value(&path, &text).map(|read| read.value).unwrap_or_default());
                let name = shown.clone();
                with_model(move |model| view! { <Table other=value.clone() name=name.clone() model /> })
            }
        </AsyncView>
    }
}
