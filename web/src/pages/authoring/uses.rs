//! What needs a document, and the runs that were made with it.

use domain::api::documents::{RunUse, UsedBy};
use domain::project::DocumentId;
use leptos::prelude::*;
use leptos_router::components::A;

use super::draft::Draft;
use ui::components::{AsyncView, FirstRows, MoreRows};
use ui::session::Project;
use ui::{address, api_client, format};

#[component]
pub fn UsesPanel() -> impl IntoView {
    let draft = Draft::here();
    let load = move || {
        // A new version may be needed by others than the one before.
        draft.saved.track();
        let place = draft.place();
        async move { api_client::documents::used_by(&place).await }
    };
    view! {
        <h2 class="unseen">"Used by"</h2>
        <AsyncView what="what needs it" load let:uses>
            <Uses uses />
        </AsyncView>
    }
}

#[component]
pub fn Uses(uses: UsedBy) -> impl IntoView {
    let UsedBy { documents, runs, run_count } = uses;
    let project = Project::here().name();
    let (first, all) = (FirstRows::new(), documents.len());
    let document = {
        let project = project.clone();
        move |DocumentId { kind, name }: DocumentId| {
            let href = address::document(&project, kind, &name);
            view! {
                <li>
                    <span class="muted">{kind.into_str()}</span>
                    " "
                    <A href>{name}</A>
                </li>
            }
        }
    };
    let run = move |RunUse { id, created_at }: RunUse| {
        let href = address::run(&project, &id);
        view! {
            <li>
                <A href>{format::time(created_at)}</A>
            </li>
        }
    };
    view! {
        <div class="uses">
            <section>
                <h3>"Referenced by"</h3>
                {(all == 0).then(|| view! { <p class="muted">"No document refers to it, so it can be deleted."</p> })}
                <ul>{move || first.of(documents.iter().cloned()).into_iter().map(&document).collect_view()}</ul>
                <MoreRows first all=Signal::stored(all) />
            </section>
            <section>
                <h3>"Runs that used it"</h3>
                <p class="muted">
                    {match run_count {
                        0 => "None yet.".to_owned(),
                        1 => "One run. It keeps its own copy.".to_owned(),
                        n => format!("{} runs, the newest first. They keep their own copies.", format::count(n)),
                    }}
                </p>
                <ul>{runs.into_iter().map(run).collect_view()}</ul>
            </section>
        </div>
    }
}
