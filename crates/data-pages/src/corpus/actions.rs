//! What can be done with a corpus.

use domain::access::Role;
use domain::api::{BuildState, CorpusDetail};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;

use crate::dataset_form::of_played;
use crate::job_actions::JobActions;
use ui::components::act;
use ui::session::Project;
use ui::{address, api_client};

#[component]
pub fn Actions(corpus: RwSignal<CorpusDetail>, state: BuildState) -> impl IntoView {
    let (project, busy) = (Project::here(), RwSignal::new(false));
    let id = StoredValue::new(corpus.read_untracked().summary.id.clone());
    let export = address::project(&project.name(), &format!("/exports/new?corpus={}", id.get_value()));
    let dataset = of_played(&project.name(), "corpus", &id.get_value());
    let cancel = move |()| {
        let cancelled = async move { api_client::corpora::cancel(&id.get_value()).await };
        act(busy, "The corpus is no longer being built.", cancelled, move |summary| {
            corpus.update(|corpus| corpus.summary = summary);
        });
    };
    let again = move |()| {
        let again = async move { api_client::corpora::retry(&id.get_value()).await };
        act(busy, "The corpus is made again, with the same settings.", again, move |summary| {
            corpus.update(|corpus| {
                corpus.summary = summary;
                corpus.report = None;
            });
        });
    };
    let navigate = StoredValue::new_local(use_navigate());
    let delete = move |()| {
        let back = address::project(&project.0.get_untracked(), "/corpora");
        let deleted = async move { api_client::corpora::remove(&id.get_value()).await };
        act(busy, "The corpus was deleted.", deleted, move |()| {
            navigate.with_value(|navigate| navigate(&back, NavigateOptions::default()));
        });
    };
    let may_run = project.may(Role::Runner);
    view! {
        <JobActions
            what="corpus"
            stage=state.stage()
            may=project.may(Role::Author)
            busy
            cancel
            again
            delete
            loses="Its conversations are kept; the selection is deleted. A corpus with exports cannot be deleted before its exports."
        >
            {may_run
                .then(|| {
                    view! {
                        <A href={export} {..} class="button main">
                            "Export"
                        </A>
                        <A href={dataset} {..} class="button">
                            "Make a dataset"
                        </A>
                    }
                })}
        </JobActions>
    }
}
