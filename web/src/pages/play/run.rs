//! One run: its numbers and its conversations.

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use crate::app::set_title;
use crate::components::{ConversationList, Crumbs, Fetched, RunControls, RunHeader};
use crate::session::Project;
use crate::{address, api_client};

#[component]
pub fn RunPage() -> impl IntoView {
    set_title("Run");
    let (params, project) = (use_params_map(), Project::here());
    let load = move || {
        let id = params.read().get("run").unwrap_or_default();
        async move { api_client::runs::one(&id).await }
    };
    view! {
        {move || view! { <Crumbs above=vec![("Runs".to_owned(), address::project(&project.name(), "/runs"))] /> }}
        <Fetched what="the run" load let:run>
            {
                let (id, title) = (run.id.clone(), format!("Run of {}", run.playbook));
                set_title(&title);
                let run = RwSignal::new(run);
                view! {
                    <h1>{title}</h1>
                    <RunControls run />
                    {move || view! { <RunHeader run=run.get() /> }}
                    <ConversationList run=id />
                }
            }
        </Fetched>
    }
}
