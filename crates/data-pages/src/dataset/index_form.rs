//! Building a search index over a dataset.

use domain::access::Role;
use domain::api::NewIndex;
use domain::corpus::name_problem;
use domain::dataset::IndexColumns;
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::inputs::Choice;
use ui::components::{Empty, FormError, Problems, Send, TextField, send};
use ui::session::Project;
use ui::{address, api_client};

#[component]
pub fn IndexForm(dataset: StoredValue<String>, names: Vec<String>) -> impl IntoView {
    if !Project::here().may(Role::Runner) {
        return view! {
            <Empty title="You may search indexes but not build them.">
                <p>"Ask an admin of the project to make you a runner."</p>
            </Empty>
        }
        .into_any();
    }
    view! { <Form dataset names /> }.into_any()
}

#[component]
fn Form(dataset: StoredValue<String>, names: Vec<String>) -> impl IntoView {
    let project = Project::here();
    let mut usual = IndexColumns::default();
    if !names.contains(&usual.text) {
        usual.text = names.first().cloned().unwrap_or_default();
    }
    let (name, columns) = (RwSignal::new(String::new()), RwSignal::new(usual));
    let (problems, busy) = (Problems::default(), RwSignal::new(false));
    let wrong = problems.at("/name");
    let wrong = Signal::derive(move || {
        let name = name.read();
        (!name.is_empty()).then(|| name_problem(&name)).flatten().or_else(|| wrong.get())
    });
    let navigate = StoredValue::new_local(use_navigate());
    let submit = move |event: SubmitEvent| {
        let project = project.0.get_untracked();
        let below = project.clone();
        let new =
            NewIndex { name: name.get_untracked(), dataset: dataset.get_value(), columns: columns.get_untracked() };
        let made = async move { api_client::indexes::create(&project, &new).await };
        send(&event, busy, problems, made, move |index| {
            let to = address::project(&below, &format!("/indexes/{}", index.id));
            navigate.with_value(|navigate| navigate(&to, NavigateOptions::default()));
        });
    };
    view! {
        <form class="panel" aria-labelledby="index" on:submit=submit>
            <h2 id="index">"Build a search index"</h2>
            <p class="muted">"It finds the rows that fit words best, for people and for the search steps of workflows."</p>
            <FormError why=problems />
            <TextField label="Name" value=name wrong />
            <div class="fields">
                <ColumnChoice label="Text, which is searched" names=names.clone() columns field=|columns| &mut columns.text />
                <ColumnChoice label="Title, which is searched too" names=names.clone() columns field=|columns| &mut columns.title />
                <ColumnChoice label="Id of a document" names=names.clone() columns field=|columns| &mut columns.id />
                <ColumnChoice label="Address of a document" names columns field=|columns| &mut columns.url />
            </div>
            <div>
                <Send label="Build the index" busy />
            </div>
        </form>
    }
}

#[component]
fn ColumnChoice(
    label: &'static str,
    names: Vec<String>,
    columns: RwSignal<IndexColumns>,
    field: fn(&mut IndexColumns) -> &mut String,
) -> impl IntoView {
    let usual = field(&mut columns.get_untracked()).clone();
    // A column that is not there is left out of the documents.
    let none = (!names.contains(&usual)).then(|| (usual, "None".to_owned()));
    let options: Vec<_> = none.into_iter().chain(names.into_iter().map(|name| (name.clone(), name))).collect();
    let value = Signal::derive(move || field(&mut columns.get()).clone());
    let change = Callback::new(move |name| columns.update(|columns| *field(columns) = name));
    view! { <Choice label options value change /> }
}
