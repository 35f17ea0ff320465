//! Of what: a corpus, or a run. It stands in the address.

use domain::api::RunSummary;
use domain::corpus::{CorpusState, CorpusSummary};
use domain::export::{CorpusRows, RunRows, SourceSpec, Split};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_location, use_navigate, use_query_map};

use super::super::inputs::{Choice, Switch};
use super::super::names::short;
use crate::api_client::Answer;
use crate::components::Fetched;
use crate::session::Project;
use crate::{api_client, format};

/// What an export can be made of: what stands in the address, and what it is called.
type Sources = Vec<(String, String)>;

#[component]
pub fn Source(source: RwSignal<Option<SourceSpec>>) -> impl IntoView {
    let (query, location, navigate) = (use_query_map(), use_location(), StoredValue::new_local(use_navigate()));
    let named = Memo::new(move |_| {
        let query = query.read();
        ["corpus", "run"].into_iter().find_map(|kind| Some((kind, query.get(kind).filter(|id| !id.is_empty())?)))
    });
    Effect::new(move |_| source.set(named.get().map(|(kind, id)| fresh(kind, id))));
    let choose = Callback::new(move |to: String| {
        let profile = query.read_untracked().get("profile").map(|profile| format!("profile={profile}"));
        let chosen = to.split_once(' ').map(|(kind, id)| format!("{kind}={id}"));
        let asked: Vec<String> = chosen.into_iter().chain(profile).collect();
        let to = format!("{}?{}", location.pathname.get_untracked(), asked.join("&"));
        let options = NavigateOptions { scroll: false, ..NavigateOptions::default() };
        navigate.with_value(|navigate| navigate(&to, options));
    });
    let kind = Memo::new(move |_| named.get().map(|(kind, _)| kind));
    let project = Project::here();
    let load = move || {
        let name = project.name();
        async move { all(&name).await }
    };
    view! {
        <section class="panel" aria-labelledby="source">
            <h2 id="source">"Of what"</h2>
            <Fetched what="corpora and runs" load let:sources>
                <Choices sources named choose />
            </Fetched>
            {move || match kind.get()? {
                "corpus" => Some(view! { <OfCorpus source /> }.into_any()),
                _ => Some(view! { <OfRun source /> }.into_any()),
            }}
        </section>
    }
}

#[component]
fn Choices(sources: Sources, named: Memo<Option<(&'static str, String)>>, choose: Callback<String>) -> impl IntoView {
    let key = move || named.get().map(|(kind, id)| format!("{kind} {id}")).unwrap_or_default();
    let mut options = vec![(String::new(), "Choose a corpus or a run".to_owned())];
    options.extend(sources);
    // What is older than the newest came with the address.
    let own = named.get_untracked().map(|(kind, id)| (format!("{kind} {id}"), format!("{kind} {}", short(&id))));
    if let Some(own) = own.filter(|(own, _)| !options.iter().any(|(key, _)| key == own)) {
        options.push(own);
    }
    view! { <Choice label="Corpus or run" options value=Signal::derive(key) change=choose /> }
}

#[component]
fn OfCorpus(source: RwSignal<Option<SourceSpec>>) -> impl IntoView {
    let set = move |change: &dyn Fn(&mut CorpusRows)| {
        source.update(|source| {
            if let Some(SourceSpec::Corpus(rows)) = source {
                change(rows);
            }
        });
    };
    let rows = move || match source.get() {
        Some(SourceSpec::Corpus(rows)) => Some(rows),
        _ => None,
    };
    let split = Signal::derive(move || {
        rows().and_then(|rows| rows.split).map(|split| split.as_str().to_owned()).unwrap_or_default()
    });
    let branches = Signal::derive(move || rows().is_some_and(|rows| rows.branches));
    let options = [("", "As the profile does"), ("train", "Train"), ("golden", "Golden")];
    view! {
        <Choice
            label="Side"
            hint="What is kept for measuring must not get among what is trained on: a profile of one file holds the training part, one of several a file for each."
            options=options.map(|(key, says)| (key.to_owned(), says.to_owned()))
            value=split
            change=Callback::new(move |to: String| {
                let split = Split::ALL.into_iter().find(|split| split.as_str() == to);
                set(&|rows| rows.split = split);
            })
        />
        <Branches on=branches change=Callback::new(move |on| set(&|rows| rows.branches = on)) />
    }
}

#[component]
fn OfRun(source: RwSignal<Option<SourceSpec>>) -> impl IntoView {
    let set = move |change: &dyn Fn(&mut RunRows)| {
        source.update(|source| {
            if let Some(SourceSpec::Run(rows)) = source {
                change(rows);
            }
        });
    };
    let is = move |of: fn(&RunRows) -> bool| {
        Signal::derive(move || matches!(&*source.read(), Some(SourceSpec::Run(rows)) if of(rows)))
    };
    view! {
        <Switch
            label="Also what was not accepted"
            hint="Its metadata says so."
            value=is(|rows| rows.all)
            change=Callback::new(move |on| set(&|rows| rows.all = on))
        />
        <Switch
            label="Also scores as people would have given them"
            hint="By the judge's calibration."
            value=is(|rows| rows.corrected)
            change=Callback::new(move |on| set(&|rows| rows.corrected = on))
        />
        <Branches on=is(|rows| rows.branches) change=Callback::new(move |on| set(&|rows| rows.branches = on)) />
    }
}

#[component]
fn Branches(on: Signal<bool>, change: Callback<bool>) -> impl IntoView {
    view! { <Switch label="Also what sub-agents did" hint="Each as a row of its own." value=on change /> }
}

fn fresh(kind: &str, id: String) -> SourceSpec {
    if kind == "corpus" {
        SourceSpec::Corpus(CorpusRows { id, split: None, branches: false })
    } else {
        SourceSpec::Run(RunRows { id, judging: None, corrected: false, all: false, branches: false })
    }
}

/// The newest corpora that are ready, and the newest runs.
async fn all(project: &str) -> Answer<Sources> {
    let corpora = api_client::corpora::list(project, None).await?.items.into_iter();
    let runs = api_client::runs::list(project, None).await?.items.into_iter();
    let ready = corpora.filter(|corpus| corpus.state == CorpusState::Ready);
    let corpus = |corpus: CorpusSummary| {
        let rows = i64::try_from(corpus.train + corpus.golden).unwrap_or(i64::MAX);
        (format!("corpus {}", corpus.id), format!("Corpus {} · {} conversations", corpus.name, format::count(rows)))
    };
    let run = |run: RunSummary| {
        let says = format!(
            "Run of {} · {} · {} accepted",
            run.playbook,
            format::time(run.created_at),
            format::count(run.accepted)
        );
        (format!("run {}", run.id), says)
    };
    Ok(ready.map(corpus).chain(runs.map(run)).collect())
}
