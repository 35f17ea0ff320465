//! Making a dataset: of a file, or of what is in the project already.

mod file;
mod played;
mod unfinished;
mod upload;

use domain::access::Role;
use domain::api::{DatasetSummary, FieldError};
use domain::corpus::name_problem;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use file::OfFile;
use played::OfPlayed;
use ui::address;
use ui::api_client::{Answer, ApiError};
use ui::components::{Crumbs, Empty, Problems, Tabs, TextField, set_title, use_tab};
use ui::session::Project;

const TABS: &[(&str, &str)] = &[("file", "A file"), ("played", "A run, a corpus or an export")];
const NAMES: &[&str] = &["file", "played"];

/// The address of the form for what is in the project: `kind` is `run`, `corpus` or `export`.
pub fn of_played(project: &str, kind: &str, id: &str) -> String {
    address::project(project, &format!("/datasets/new?tab=played&{kind}={}", address::segment(id)))
}

#[component]
pub fn NewDatasetPage() -> impl IntoView {
    set_title("New dataset");
    let project = Project::here();
    view! {
        {move || view! { <Crumbs above=vec![("Datasets".to_owned(), address::project(&project.name(), "/datasets"))] /> }}
        <h1>"New dataset"</h1>
        <Show
            when=move || project.may(Role::Runner)
            fallback=|| {
                view! {
                    <Empty title="You may read datasets but not make them.">
                        <p>"Ask an admin of the project to make you a runner."</p>
                    </Empty>
                }
            }
        >
            <Sources />
        </Show>
    }
}

#[component]
fn Sources() -> impl IntoView {
    let (chosen, choose) = use_tab("tab", NAMES);
    view! {
        <Tabs label="What the rows come from" tabs=TABS chosen choose />
        {move || {
            let tab = chosen.get();
            let form = if tab == "file" { view! { <OfFile /> }.into_any() } else { view! { <OfPlayed /> }.into_any() };
            view! {
                <section role="tabpanel" class="stack" id=format!("panel-{tab}") aria-labelledby=format!("tab-{tab}")>
                    {form}
                </section>
            }
        }}
    }
}

/// The name of the dataset. What cannot be one is told while it is typed.
#[component]
fn NameField(name: RwSignal<String>, problems: Problems) -> impl IntoView {
    let refused = problems.at("/name");
    let wrong = Signal::derive(move || {
        let name = name.read();
        (!name.is_empty()).then(|| name_problem(&name)).flatten().or_else(|| refused.get())
    });
    view! {
        <TextField
            label="Name"
            value=name
            hint="If there is a dataset with this name, this is its next version."
            wrong
        />
    }
}

/// Said before much is sent.
fn check_name(name: &str) -> Answer<()> {
    name_problem(name).map_or(Ok(()), |problem| Err(ApiError::invalid(vec![FieldError::at("/name", problem)])))
}

/// Leads to the page of a dataset that is being made.
fn to_dataset() -> impl FnOnce(DatasetSummary) + Copy {
    let (project, navigate) = (Project::here(), StoredValue::new_local(use_navigate()));
    move |dataset| {
        let to = address::project(&project.0.get_untracked(), &format!("/datasets/{}", dataset.id));
        navigate.with_value(|navigate| navigate(&to, NavigateOptions::default()));
    }
}
