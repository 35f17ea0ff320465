//! The frame around every page of somebody who is signed in: where they are, and where else they can go.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::{A, Outlet};
use leptos_router::hooks::{use_location, use_navigate};

use crate::address::{self, HOME};
use crate::components::{Account, ToastList};
use crate::keys::use_shortcut;
use crate::session::Session;

/// What a link says, where it leads below the project, and the keys that lead there.
type Link = (&'static str, &'static str, &'static str);

/// Pages of a project, in groups with a heading.
const OF_PROJECT: [(&str, &[Link]); 4] = [
    ("", &[("Overview", "", "g o")]),
    (
        "Author",
        &[
            ("Scenarios", "/scenarios", "g s"),
            ("Playbooks", "/playbooks", "g b"),
            ("Personas", "/personas", "g a"),
            ("Judges", "/judges", "g j"),
            ("Workflows", "/workflows", "g w"),
        ],
    ),
    (
        "Play",
        &[
            ("Runs", "/runs", "g r"),
            ("Environments", "/environments", "g n"),
            ("Conversations", "/conversations", "g c"),
            ("Reviews", "/reviews", "g v"),
        ],
    ),
    (
        "Data",
        &[
            ("Corpora", "/corpora", "g d"),
            ("Exports", "/exports", "g e"),
            ("Datasets", "/datasets", "g t"),
            ("Indexes", "/indexes", "g i"),
        ],
    ),
];

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
    for (name, below, keys) in OF_PROJECT.iter().flat_map(|(_, links)| links.iter()) {
        use_shortcut(keys, format!("Go to: {name}"), move || {
            if let Some(project) = session.project() {
                navigate
                    .with_value(|navigate| navigate(&address::project(&project, below), NavigateOptions::default()));
            }
        });
    }
    view! {
        <nav aria-label="Project">
            {move || {
                let project = session.project()?;
                let link = |&(name, below, _): &Link| {
                    let exact = below.is_empty();
                    view! {
                        <li>
                            <A href=address::project(&project, below) exact>
                                {name}
                            </A>
                        </li>
                    }
                };
                let group = |&(heading, links): &(&'static str, &[Link])| {
                    view! {
                        {(!heading.is_empty()).then(|| view! { <h2>{heading}</h2> })}
                        <ul>{links.iter().map(link).collect_view()}</ul>
                    }
                };
                Some(OF_PROJECT.iter().map(group).collect_view())
            }}
        </nav>
        <Operate />
    }
}

/// Pages of the whole installation; what only administrators may see is shown to them alone.
#[component]
fn Operate() -> impl IntoView {
    let session = Session::here();
    let link = |(name, href): (&'static str, &'static str)| {
        view! {
            <li>
                <A href>{name}</A>
            </li>
        }
    };
    view! {
        <nav aria-label="Installation">
            <h2>"Operate"</h2>
            <ul>
                {[("Models", "/models"), ("Workers", "/workers"), ("Tokens", "/tokens")].map(link).collect_view()}
                {move || {
                    session
                        .is_administrator()
                        .then(|| [("People", "/people"), ("Audit log", "/audit")].map(link).collect_view())
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

/// Names the page in the browser's tab, its history and to a screen reader.
pub fn set_title(page: &str) {
    document().set_title(&format!("{page} · Groundstate"));
}
