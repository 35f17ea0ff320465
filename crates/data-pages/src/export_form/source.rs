//! Of what: a corpus, or a run.

use domain::export::Split;
use leptos::prelude::*;
use strum::VariantArray;

use super::super::filters::Filters;
use super::super::inputs::{Choice, Switch};
use super::super::sources::{self, NothingPlayed, SourceChoice, SourceOption};
use super::query_params;
use ui::components::PagedList;
use ui::session::Project;

const NOTHING_PLAYED: &str = "There is no run or corpus to export yet.";

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
                    async move { sources::corpora_and_runs(&name, after).await }
                };
                view! {
                    <PagedList what="corpora and runs" load empty=|| view! { <NothingPlayed says=NOTHING_PLAYED /> } let:sources>
                        {move || view! { <Sources sources=sources.get() named filters /> }}
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
fn Sources(sources: Vec<SourceOption>, named: Memo<Option<(&'static str, String)>>, filters: Filters) -> impl IntoView {
    let chosen = Signal::derive(move || named.get().map(|(kind, id)| format!("{kind} {id}")).unwrap_or_default());
    let change = Callback::new(move |to: String| {
        filters.choose(|params| {
            let (kind, id) = to.split_once(' ').unwrap_or_default();
            query_params::with_source(params, kind, id)
        });
    });
    view! { <SourceChoice label="Corpus or run" none="Choose a corpus or a run" sources chosen change /> }
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

/// Profiles that compare conversations read failures anyway.
#[component]
fn NotAccepted(filters: Filters) -> impl IntoView {
    let compares = Memo::new(move |_| query_params::profile(&filters.params.read()).compares());
    view! {
        <Show when=move || !compares.get()>
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
