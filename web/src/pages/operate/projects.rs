//! The projects that somebody sees, and making another.

use domain::api::{NewProject, ProjectSummary};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;

use ui::components::{Dialog, FormError, PagedList, Problems, Send, TextField, send, set_title};
use ui::session::Session;
use ui::{address, api_client, format};

#[component]
pub fn ProjectsPage() -> impl IntoView {
    set_title("Projects");
    let make = RwSignal::new(false);
    let row = |project: ProjectSummary| {
        view! {
            <tr>
                <td class="scenario">
                    <A href=address::project(&project.name, "")>{project.title}</A>
                </td>
                <td>
                    <code>{project.name}</code>
                </td>
                <td>{format::time(project.created_at)}</td>
            </tr>
        }
    };
    view! {
        <header class="head">
            <h1>"Projects"</h1>
            {move || Session::here().is_administrator().then(|| view! {
                <button type="button" class="main" on:click=move |_| make.set(true)>
                    "Make a project"
                </button>
            })}
        </header>
        <PagedList what="projects" load=api_client::projects::list empty=|| () let:rows>
            <table class="rows">
                <thead>
                    <tr>
                        <th scope="col">"Project"</th>
                        <th scope="col">"Name in addresses"</th>
                        <th scope="col">"Since"</th>
                    </tr>
                </thead>
                <tbody>
                    <For each=move || rows.get() key=|project: &ProjectSummary| project.name.clone() children=row />
                </tbody>
            </table>
        </PagedList>
        <Dialog title="Make a project" open=make>
            <Form />
        </Dialog>
    }
}

#[component]
fn Form() -> impl IntoView {
    let (name, title) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let (problems, busy) = (Problems::default(), RwSignal::new(false));
    let (session, navigate) = (Session::here(), StoredValue::new_local(use_navigate()));
    let submit = move |event: SubmitEvent| {
        let title = Some(title.get_untracked()).filter(|title| !title.trim().is_empty());
        let project = NewProject { name: name.get_untracked().trim().to_owned(), title };
        let ask = async move { api_client::projects::create(&project).await };
        let go = navigate.get_value();
        send(&event, busy, problems, ask, move |project: ProjectSummary| {
            spawn_local(async move {
                // The pages show a project to its members, and who is one stands in the session.
                if let Ok(now) = api_client::session::current().await {
                    session.set(Some(now));
                }
                go(&address::project(&project.name, ""), NavigateOptions::default());
            });
        });
    };
    view! {
        <form class="stack" on:submit=submit>
            <FormError why=problems />
            <TextField
                label="Name"
                value=name
                hint="Used in addresses: lower-case letters, digits, _ and -"
                wrong=problems.at("/name")
            />
            <TextField label="Title" value=title hint="Shown to people; empty: the name." wrong=problems.at("/title") />
            <div class="actions">
                <Send label="Make the project" busy />
            </div>
        </form>
    }
}
