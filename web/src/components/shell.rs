//! The frame around every page of somebody who is signed in: where they are, and where else they can go.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::{A, Outlet};
use leptos_router::hooks::{use_location, use_navigate};

use crate::address::{self, HOME};
use crate::components::{Account, ToastList};
use crate::keys::use_shortcut;
use crate::session::Session;

/// Pages of a project: what the link says, where it leads below the project, and the keys that lead there.
const OF_PROJECT: [(&str, &str, &str); 2] = [("Overview", "", "g o"), ("Runs", "/runs", "g r")];

#[component]
pub fn Shell(children: Children) -> impl IntoView {
    let path = use_location().pathname;
    let menu = RwSignal::new(false);
    // Whoever follows a link wants the page, not the menu.
    Effect::new(move |_| {
        path.track();
        menu.set(false);
    });
    view! {
        <a class="skip" href="#content">
            "Skip to the page"
        </a>
        <div class="shell">
            <header class="top">
                <A href={HOME} {..} class="brand">
                    "Groundstate"
                </A>
                <button
                    type="button"
                    class="menu"
                    aria-expanded=move || menu.get().to_string()
                    aria-controls="navigation"
                    on:click=move |_| menu.update(|open| *open = !*open)
                >
                    "Menu"
                </button>
            </header>
            <div class="navigation" id="navigation" class:open=menu>
                <ProjectChoice />
                <Links />
                <Account />
            </div>
            <main class="page" id="content" tabindex="-1">
                {children()}
            </main>
        </div>
        <ToastList />
    }
}

/// The frame around the pages by which people come in.
#[component]
pub fn Outside() -> impl IntoView {
    view! {
        <main class="page">
            <Outlet />
        </main>
    }
}

#[component]
fn Links() -> impl IntoView {
    let session = Session::here();
    let navigate = StoredValue::new_local(use_navigate());
    for (name, below, keys) in OF_PROJECT {
        use_shortcut(keys, format!("Go to: {name}"), move || {
            if let Some(project) = session.project() {
                navigate
                    .with_value(|navigate| navigate(&address::project(&project, below), NavigateOptions::default()));
            }
        });
    }
    view! {
        <nav aria-label="Project">
            <ul>
                {move || {
                    let project = session.project()?;
                    let link = |(name, below, _): (&'static str, &str, &str)| {
                        let exact = below.is_empty();
                        view! {
                            <li>
                                <A href=address::project(&project, below) exact>
                                    {name}
                                </A>
                            </li>
                        }
                    };
                    Some(OF_PROJECT.map(link).collect_view())
                }}
            </ul>
        </nav>
    }
}

/// Which project the links lead to.
#[component]
fn ProjectChoice() -> impl IntoView {
    let session = Session::here();
    let navigate = StoredValue::new_local(use_navigate());
    let go = move |name: String| {
        navigate.with_value(|navigate| navigate(&address::project(&name, ""), NavigateOptions::default()));
    };
    move || {
        let projects = session.projects();
        let current = session.project()?;
        let option = |project: domain::api::ProjectRole| {
            let selected = project.project == current;
            view! {
                <option value=project.project selected=selected>
                    {project.title}
                </option>
            }
        };
        Some(view! {
            <label class="project">
                <span class="muted">"Project"</span>
                <select on:change:target=move |event| go(event.target().value())>
                    {projects.into_iter().map(option).collect_view()}
                </select>
            </label>
        })
    }
}
