//! Of what: a corpus, or a run.

use domain::api::{CorpusState, CorpusSummary, Page, RunSummary};
use domain::export::Split;
use leptos::prelude::*;
use strum::VariantArray;

use super::super::filters::Filters;
use super::super::inputs::{Choice, Switch};
use super::super::names::short;
use super::query_params;
use ui::api_client::Answer;
use ui::components::PagedList;
use ui::session::Project;
use ui::{api_client, format};

/// What an export can be made of: its kind and id, and what it is called.
type SourceOption = (String, String);

#[component]
pub fn Source(filters: Filters) -> impl IntoView {
    let named = Memo::new(move |_| query_params::named(&filters.params.read()));
    let kind = Memo::new(move |_| named.get().map(|(kind, _)| kind));
    let project = Project::here();
    view! {
        <section class="panel" aria-labelledby="source">
            <h2 id="source">"Source"</h2>
            {move || {
                let name = project.name();
                let load = move |after| {
                    let name = name.clone();
                    async move { newest(&name, after).await }
                };
                view! {
                    <PagedList what="corpora and runs" load empty=|| view! { <NoSources /> } let:sources>
                        {move || view! { <Choices sources=sources.get() named filters /> }}
                    </PagedList>
                }
            }}
            {move || match kind.get()? {
                "corpus" => Some(view! { <OfCorpus filters /> }.into_any()),
                _ => Some(view! { <OfRun filters /> }.into_any()),
            }}
        </section>
    }
}

#[component]
fn NoSources() -> impl IntoView {
    view! { <p class="muted">"There is no run or corpus to export yet."</p> }
}

#[component]
fn Choices(sources: Vec<SourceOption>, named: Memo<Option<(&'static str, String)>>, filters: Filters) -> impl IntoView {
    let key = move || named.get().map(|(kind, id)| format!("{kind} {id}")).unwrap_or_default();
    let mut options = vec![(String::new(), "Choose a corpus or a run".to_owned())];
    options.extend(sources);
    // What is older than the newest came with the address.
    let own = named.get_untracked().map(|(kind, id)| (format!("{kind} {id}"), format!("{kind} {}", short(&id))));
    if let Some(own) = own.filter(|(own, _)| !options.iter().any(|(key, _)| key == own)) {
        options.push(own);
    }
    let change = Callback::new(move |to: String| {
        filters.choose(|params| {
            let (kind, id) = to.split_once(' ').unwrap_or_default();
            query_params::with_source(params, kind, id)
        });
    });
    view! { <Choice label="Corpus or run" options value=Signal::derive(key) change /> }
}

#[component]
fn OfCorpus(filters: Filters) -> impl IntoView {
    let split = Signal::derive(move || filters.params.read().one("split").unwrap_or_default().to_owned());
    let sides = Split::VARIANTS.iter().map(Split::into_str).zip(["Train", "Golden"]);
    let options = [("", "Default of the profile")].into_iter().chain(sides);
    let options: Vec<_> = options.map(|(key, says)| (key.to_owned(), says.to_owned())).collect();
    view! {
        <Choice
            label="Part"
            hint="Test data must not get into training data: a profile with one file gets the training part, a profile with several gets one file for each part."
            options
            value=split
            change=Callback::new(move |to: String| filters.choose(|params| params.with("split", Some(to))))
        />
        <NotAccepted filters />
        <Branches filters />
    }
}

#[component]
fn OfRun(filters: Filters) -> impl IntoView {
    view! {
        <NotAccepted filters />
        <OptionSwitch
            filters
            name="corrected"
            label="Include scores corrected by people's ratings"
            hint="Uses the judge's calibration."
        />
        <Branches filters />
    }
}

/// Profiles of pairs read failures anyway.
#[component]
fn NotAccepted(filters: Filters) -> impl IntoView {
    let of_pairs = Memo::new(move |_| query_params::profile(&filters.params.read()).is_of_pairs());
    view! {
        <Show when=move || !of_pairs.get()>
            <OptionSwitch
                filters
                name="all"
                label="Include conversations that were not accepted"
                hint="Not for fine-tuning: models imitate rows. `metadata.accepted` tells them apart."
            />
        </Show>
    }
}

#[component]
fn Branches(filters: Filters) -> impl IntoView {
    view! { <OptionSwitch filters name="branches" label="Include sub-agents' rows" hint="Each as a row of its own." /> }
}

/// What an export holds only if somebody asks for it.
#[component]
fn OptionSwitch(
    filters: Filters,
    /// In the address.
    name: &'static str,
    label: &'static str,
    hint: &'static str,
) -> impl IntoView {
    let value = Signal::derive(move || query_params::is_on(&filters.params.read(), name));
    let change = Callback::new(move |on| filters.choose(|params| query_params::turned(params, name, on)));
    view! { <Switch label hint value change /> }
}

/// In place of a cursor, once a list has no more.
const END: &str = "-";

/// The corpora that are ready and the runs, newest first: both lists a page further. A cursor is one of each.
async fn newest(project: &str, after: Option<String>) -> Answer<Page<SourceOption>> {
    let (corpora, runs) = after.as_deref().and_then(|after| after.split_once(' ')).unwrap_or_default();
    let corpora = part(corpora, async |after| api_client::corpora::list(project, after).await).await?;
    let runs = part(runs, async |after| api_client::runs::list(project, after).await).await?;
    let [of_corpora, of_runs] = [&corpora.next, &runs.next].map(|next| next.as_deref().unwrap_or(END));
    let more = [of_corpora, of_runs] != [END; 2];
    let next = more.then(|| format!("{of_corpora} {of_runs}"));
    let ready = corpora.items.into_iter().filter(|corpus| corpus.state == CorpusState::Ready);
    Ok(Page { items: ready.map(corpus).chain(runs.items.into_iter().map(run)).collect(), next })
}

/// A list's next page; an empty cursor stands for its beginning.
async fn part<T>(cursor: &str, load: impl AsyncFnOnce(Option<String>) -> Answer<Page<T>>) -> Answer<Page<T>> {
    match cursor {
        END => Ok(Page { items: Vec::new(), next: None }),
        "" => load(None).await,
        after => load(Some(after.to_owned())).await,
    }
}

fn corpus(corpus: CorpusSummary) -> SourceOption {
    let rows = i64::try_from(corpus.train + corpus.golden).unwrap_or(i64::MAX);
    (format!("corpus {}", corpus.id), format!("Corpus {} · {} conversations", corpus.name, format::count(rows)))
}

fn run(run: RunSummary) -> SourceOption {
    let (made, accepted) = (format::time(run.created_at), format::count(run.accepted));
    (format!("run {}", run.id), format!("Run of {} · {made} · {accepted} accepted", run.playbook))
}
