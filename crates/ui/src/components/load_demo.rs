//! The button that fills a project with the documents that ship with Groundstate.

use domain::access::Role;
use leptos::prelude::*;

use crate::api_client;
use crate::components::{Change, Changing};
use crate::session::Project;

/// For authors; others see nothing.
#[component]
pub fn LoadDemo(
    /// Called when the documents are in the project.
    done: impl Fn() + Copy + Send + Sync + 'static,
) -> impl IntoView {
    let (project, loading) = (Project::here(), Change::new());
    let load = move |_| {
        let name = project.name();
        let request = move |signal| async move { api_client::documents::demo(&signal, &name).await };
        loading.act("The demo documents are loaded.", request, move |_| done());
    };
    view! {
        <Show when=move || project.may(Role::Author)>
            <button type="button" class="main" aria-disabled=move || loading.busy().to_string() on:click=load>
                {move || if loading.busy() { "Loading …" } else { "Load the demo documents" }}
            </button>
            <Changing change=loading what="Loading and proving the documents" />
        </Show>
    }
}
