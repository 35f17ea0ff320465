//! A dataset of a run, a corpus or an export.

use domain::api::NewDataset;
use domain::dataset::{DatasetSource, ExportRows};
use domain::export::{CorpusRows, RunRows, Split};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use strum::VariantArray;

use super::{NameField, check_name, to_dataset};
use crate::inputs::{Choice, Switch};
use crate::sources::{self, NothingPlayed, SourceChoice};
use ui::api_client::{self, ApiError};
use ui::components::{FormError, PagedList, Problems, Send, send};
use ui::session::Project;

const NOTHING_PLAYED: &str = "There is no run, corpus or export yet.";

/// Which conversations of a run or a corpus are rows.
#[derive(Clone, Default)]
struct Selected {
    all: bool,
    branches: bool,
    /// Of a run.
    corrected: bool,
    /// Of a corpus.
    split: Option<Split>,
}

#[component]
pub fn OfPlayed() -> impl IntoView {
    let project = Project::here();
    let (name, chosen) = (RwSignal::new(String::new()), RwSignal::new(named_by_address()));
    let selected = RwSignal::new(Selected::default());
    let (problems, busy) = (Problems::default(), RwSignal::new(false));
    let lead = to_dataset();
    let submit = move |event: SubmitEvent| {
        let (project, dataset) = (project.0.get_untracked(), name.get_untracked());
        let source = source(&chosen.read_untracked(), selected.get_untracked());
        let made = async move {
            let missing = || {
                ApiError::invalid(vec![domain::api::FieldError::at("/source", "choose a run, a corpus or an export")])
            };
            let source = source.ok_or_else(missing)?;
            check_name(&dataset)?;
            api_client::datasets::create(&project, &NewDataset { name: dataset, source }).await
        };
        send(&event, busy, problems, made, lead);
    };
    let kind = Memo::new(move |_| chosen.read().split_once(' ').map(|(kind, _)| kind.to_owned()).unwrap_or_default());
    view! {
        <form class="panel" on:submit=submit>
            <FormError why=problems />
            {move || {
                let name = project.name();
                let load = move |after| {
                    let name = name.clone();
                    async move { sources::all(&name, after).await }
                };
                view! {
                    <PagedList what="runs, corpora and exports" load empty=|| view! { <NothingPlayed says=NOTHING_PLAYED /> } let:sources>
                        {move || {
                            let change = Callback::new(move |to| chosen.set(to));
                            view! {
                                <SourceChoice
                                    label="Run, corpus or export"
                                    none="Choose a run, a corpus or an export"
                                    sources=sources.get()
                                    chosen
                                    change
                                />
                            }
                        }}
                    </PagedList>
                }
            }}
            {move || view! { <Options kind=kind.get() selected /> }}
            <NameField name problems />
            <div>
                <Send label="Make the dataset" busy />
            </div>
        </form>
    }
}

/// The options of a run or a corpus; an export has none.
#[component]
fn Options(kind: String, selected: RwSignal<Selected>) -> impl IntoView {
    let switch = move |label: &'static str, hint: &'static str, field: fn(&mut Selected) -> &mut bool| {
        let value = Signal::derive(move || *field(&mut selected.get()));
        let change = Callback::new(move |on| selected.update(|selected| *field(selected) = on));
        view! { <Switch label hint value change /> }
    };
    match kind.as_str() {
        "run" | "corpus" => view! {
            <div class="switches">
                {(kind == "corpus").then(|| view! { <Part selected /> })}
                {switch("Include conversations that were not accepted", "", |selected| &mut selected.all)}
                {(kind == "run")
                    .then(|| {
                        let hint = "Uses the judge's calibration.";
                        switch("Include scores corrected by people's ratings", hint, |selected| &mut selected.corrected)
                    })}
                {switch("Include sub-agents' rows", "Each as a row of its own.", |selected| &mut selected.branches)}
            </div>
        }
        .into_any(),
        _ => ().into_any(),
    }
}

#[component]
fn Part(selected: RwSignal<Selected>) -> impl IntoView {
    let sides = Split::VARIANTS.iter().map(Split::into_str).zip(["Train", "Golden"]);
    let options = [("", "Both")].into_iter().chain(sides);
    let options: Vec<_> = options.map(|(key, says)| (key.to_owned(), says.to_owned())).collect();
    let value =
        Signal::derive(move || selected.read().split.map_or_else(String::new, |split| split.into_str().to_owned()));
    let change = Callback::new(move |to: String| selected.update(|selected| selected.split = to.parse().ok()));
    view! { <Choice label="Part" options value change /> }
}

/// The source whose page led here, as its kind and id; empty if none did.
fn named_by_address() -> String {
    let params = use_query_map();
    let params = params.read_untracked();
    let named = |kind: &str| Some(format!("{kind} {}", params.get(kind)?));
    ["run", "corpus", "export"].into_iter().find_map(named).unwrap_or_default()
}

fn source(chosen: &str, selected: Selected) -> Option<DatasetSource> {
    let (kind, id) = chosen.split_once(' ')?;
    let id = id.to_owned();
    let Selected { all, branches, corrected, split } = selected;
    match kind {
        "run" => Some(DatasetSource::Run(RunRows { id, judging: None, corrected, all, branches })),
        "corpus" => Some(DatasetSource::Corpus(CorpusRows { id, split, all, branches })),
        "export" => Some(DatasetSource::Export(ExportRows { id })),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_takes_what_is_said_of_its_kind() {
        let selected = Selected { all: true, split: Some(Split::Golden), ..Selected::default() };
        let id = || "x".to_owned();
        let run = RunRows { id: id(), judging: None, corrected: false, all: true, branches: false };
        assert_eq!(source("run x", selected.clone()), Some(DatasetSource::Run(run)));
        let corpus = CorpusRows { id: id(), split: Some(Split::Golden), all: true, branches: false };
        assert_eq!(source("corpus x", selected.clone()), Some(DatasetSource::Corpus(corpus)));
        assert_eq!(source("export x", selected.clone()), Some(DatasetSource::Export(ExportRows { id: id() })));
        assert_eq!(source("", selected), None);
    }
}
