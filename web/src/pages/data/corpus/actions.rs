//! What can be done with a corpus.

use domain::access::Role;
use domain::corpus::{CorpusDetail, CorpusState};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;

use crate::action::act;
use crate::components::Dialog;
use crate::session::Project;
use crate::{address, api_client};

#[component]
pub fn Actions(corpus: RwSignal<CorpusDetail>, state: CorpusState) -> impl IntoView {
    let project = Project::here();
    let (busy, asked) = (RwSignal::new(false), RwSignal::new(false));
    let id = corpus.read_untracked().summary.id.clone();
    let export = address::project(&project.name(), &format!("/exports/new?corpus={id}"));
    let (to_cancel, to_retry, to_delete) = (id.clone(), id.clone(), id);
    let cancel = move |_| {
        let id = to_cancel.clone();
        act(
            busy,
            "The corpus is built no further.",
            async move { api_client::corpora::cancel(&id).await },
            move |summary| {
                corpus.update(|corpus| corpus.summary = summary);
            },
        );
    };
    let retry = move |_| {
        let id = to_retry.clone();
        act(
            busy,
            "The corpus is selected again, by the same selection.",
            async move { api_client::corpora::retry(&id).await },
            move |summary| {
                corpus.update(|corpus| {
                    corpus.summary = summary;
                    corpus.report = None;
                });
            },
        );
    };
    let navigate = StoredValue::new_local(use_navigate());
    let delete = move |_| {
        let id = to_delete.clone();
        let back = address::project(&project.0.get_untracked(), "/corpora");
        act(busy, "The corpus was deleted.", async move { api_client::corpora::remove(&id).await }, move |()| {
            navigate.with_value(|navigate| navigate(&back, NavigateOptions::default()));
        });
    };
    let delete = StoredValue::new(delete);
    let (may_author, may_run) = (project.may(Role::Author), project.may(Role::Runner));
    view! {
        <div class="actions">
            {(state == CorpusState::Ready && may_run)
                .then(|| {
                    view! {
                        <A href={export} {..} class="button main">
                            "Export"
                        </A>
                    }
                })}
            {(state == CorpusState::Building && may_author)
                .then(|| {
                    view! {
                        <button type="button" aria-disabled=move || busy.get().to_string() on:click=cancel>
                            "Cancel"
                        </button>
                    }
                })}
            {(matches!(state, CorpusState::Failed | CorpusState::Cancelled) && may_author)
                .then(|| {
                    view! {
                        <button type="button" class="main" aria-disabled=move || busy.get().to_string() on:click=retry>
                            "Make again"
                        </button>
                    }
                })}
            {(state != CorpusState::Building && may_author)
                .then(|| {
                    view! {
                        <button type="button" class="danger" on:click=move |_| asked.set(true)>
                            "Delete"
                        </button>
                    }
                })}
        </div>
        <Dialog title="Delete the corpus?" open=asked>
            <p>"Its conversations stay where they are; the selection is gone. A corpus with exports is kept until they are deleted."</p>
            <div class="actions">
                <button
                    type="button"
                    class="danger"
                    aria-disabled=move || busy.get().to_string()
                    on:click=move |event| delete.with_value(|delete| delete(event))
                >
                    "Delete the corpus"
                </button>
            </div>
        </Dialog>
    }
}
