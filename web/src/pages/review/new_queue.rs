//! Making a review queue.

use domain::api::{LARGEST_QUEUE, NewQueue, ReviewQueue};
use domain::progress::JobProgress;
use futures::future::{AbortHandle, abortable};
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_location, use_navigate};

use super::choices::{CorpusChoice, RunChoice};
use super::filter::FilterFields;
use super::form_state::{Order, Source};
use super::url_state;
use ui::api_client::Answer;
use ui::components::{Crumbs, FieldReader, FormError, FormField, Problems, Send, Toasts, Working, set_title, settle};
use ui::session::Project;
use ui::{address, api_client, format};

/// The address says all but the instructions. What the conversations are chosen by stands there in the words of lists of
/// conversations.
#[component]
pub fn NewQueuePage() -> impl IntoView {
    set_title("New review queue");
    let project = Project::here();
    let order = url_state::read(&address::pairs(&use_location().search.get_untracked()));
    url_state::sync(order);
    let (busy, problems, gathering) = (RwSignal::new(false), Problems::default(), FilteredIds::default());
    on_cleanup(move || gathering.cancel());
    let navigate = use_navigate();
    let largest = format::count(i64::try_from(LARGEST_QUEUE).unwrap_or(i64::MAX));
    let send = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        problems.clear();
        let (name, navigate, toasts) = (project.0.get_untracked(), navigate.clone(), Toasts::here());
        spawn_local(async move {
            let answer = make(&name, order, gathering).await;
            settle(busy, problems, toasts, answer, |made| {
                if let Some(made) = made {
                    navigate(&of(&name, &made.id), NavigateOptions::default());
                }
            });
        });
    };
    view! {
        {move || view! { <Crumbs above=vec![("Reviews".to_owned(), address::project(&project.name(), "/reviews"))] /> }}
        <h1>"New review queue"</h1>
        <form class="stack narrow" on:submit=send>
            <FormError why=problems />
            <FormField label="Name" wrong=problems.at("/name")>
                <input type="text" required maxlength="200" dir="auto" bind:value=order.name />
            </FormField>
            <FormField label="Instructions" hint="Raters see them." wrong=problems.at("/instructions")>
                <textarea rows="4" dir="auto" bind:value=order.instructions></textarea>
            </FormField>
            <Sources order problems />
            <div class="fields">
                <FormField label="People for each conversation" wrong=problems.at("/raters_each")>
                    <input type="number" required min="1" max="10" bind:value=order.raters_each />
                </FormField>
                <FormField
                    label="How many conversations"
                    hint=format!("Empty: 50 of a run, all of a corpus or a filter, at most {largest}.")
                    wrong=problems.at("/n")
                >
                    <input type="number" min="1" max=LARGEST_QUEUE bind:value=order.n />
                </FormField>
            </div>
            <label class="tick">
                <input type="checkbox" bind:checked=order.blind />
                <span>"Blind: raters see verdicts and other people's ratings only after they have rated."</span>
            </label>
            <div>
                <Send label="Make the queue" busy />
            </div>
            <Show when=move || gathering.doing.read().is_some()>
                <Working what="Making the queue" doing=gathering.doing cancel=move || gathering.cancel() />
            </Show>
        </form>
    }
}

#[component]
fn Sources(order: Order, problems: Problems) -> impl IntoView {
    let choice = move |(says, source): (&'static str, Source)| {
        view! {
            <label class="tick">
                <input
                    type="radio"
                    name="source"
                    prop:checked=move || order.source.get() == source
                    on:change=move |_| order.source.set(source)
                />
                <span>{says}</span>
            </label>
        }
    };
    view! {
        <fieldset class="goal">
            <legend>"Conversations"</legend>
            {[
                ("of a run, spread over its scores", Source::Run),
                ("that pass a filter", Source::Filter),
                ("of a corpus", Source::Corpus),
            ]
                .map(choice)
                .collect_view()}
        </fieldset>
        {move || match order.source.get() {
            Source::Run => {
                view! { <RunChoice label="Run" value=order.run none="Choose a run" wrong=problems.at("/run") /> }
                    .into_any()
            }
            Source::Corpus => {
                view! {
                    <CorpusChoice label="Corpus" value=order.corpus none="Choose a corpus" wrong=problems.at("/corpus") />
                }
                    .into_any()
            }
            Source::Filter => view! { <FilterFields filter=order.filter /> }.into_any(),
        }}
    }
}

/// Conversations that pass a filter are read a page at a time.
#[derive(Clone, Copy, Default)]
struct FilteredIds {
    doing: RwSignal<Option<JobProgress>>,
    stop: StoredValue<Option<AbortHandle>>,
}

impl FilteredIds {
    /// `None` if it was cancelled.
    async fn chosen(self, project: &str, params: &[(String, String)], n: usize) -> Option<Answer<Vec<String>>> {
        let (work, stop) = abortable(async move {
            let matching = api_client::explore::facets(project, params).await?.matching;
            let total = usize::try_from(matching).unwrap_or(n).min(n);
            let step = |done: usize| {
                self.doing.try_set(Some(JobProgress::new("reading the list", done, Some(total))));
            };
            step(0);
            api_client::reviews::chosen(project, params, n, step).await
        });
        self.stop.try_set_value(Some(stop));
        let chosen = work.await.ok();
        self.doing.try_set(None);
        chosen
    }

    fn cancel(self) {
        if let Some(stop) = self.stop.get_value() {
            stop.abort();
        }
    }
}

/// Nothing if it was cancelled.
async fn make(project: &str, order: Order, gathering: FilteredIds) -> Answer<Option<ReviewQueue>> {
    let mut fields = FieldReader::default();
    let named = |id: RwSignal<String>| Some(id.get_untracked()).filter(|id| !id.is_empty());
    let queue = NewQueue {
        name: order.name.get_untracked(),
        instructions: order.instructions.get_untracked(),
        raters_each: fields.whole("/raters_each", &order.raters_each.read_untracked()).unwrap_or(1),
        blind: order.blind.get_untracked(),
        n: fields.whole("/n", &order.n.read_untracked()),
        conversations: None,
        run: None,
        judging: None,
        corpus: None,
    };
    let queue = fields.finish(queue)?;
    let queue = match order.source.get_untracked() {
        Source::Run => NewQueue { run: named(order.run), ..queue },
        Source::Corpus => NewQueue { corpus: named(order.corpus), ..queue },
        Source::Filter => {
            let params = untrack(|| order.filter.params());
            let n = queue.n.map_or(LARGEST_QUEUE, |n| LARGEST_QUEUE.min(n as usize));
            let Some(chosen) = gathering.chosen(project, &params, n).await else { return Ok(None) };
            NewQueue { conversations: Some(chosen?), n: None, ..queue }
        }
    };
    api_client::reviews::make(project, &queue).await.map(Some)
}

/// A queue's page.
pub fn of(project: &str, id: &str) -> String {
    address::project(project, &format!("/reviews/{}", address::segment(id)))
}
