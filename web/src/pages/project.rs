//! A project: what it holds, and what could come next.

use leptos::prelude::*;
use leptos_router::components::Outlet;
use leptos_router::hooks::use_params_map;

use crate::app::set_title;
use crate::components::Empty;
use crate::pages::play::RunList;
use crate::session::{Project, Session};

/// Stands around all pages of a project, and shows them to its members.
#[component]
pub fn ProjectFrame() -> impl IntoView {
    let params = use_params_map();
    let session = Session::here();
    let name = Memo::new(move |_| params.read().get("project").unwrap_or_default());
    provide_context(Project(name));
    let member = Memo::new(move |_| session.is_member(&name.read()));
    Effect::new(move |_| {
        if member.get() {
            session.visit(&name.read());
        }
    });
    move || {
        if member.get() {
            view! { <Outlet /> }.into_any()
        } else {
            set_title("No such project");
            view! {
                <Empty title="You are no member of this project, or there is none with this name.">
                    <p>"Choose another project, or ask an admin of this one to make you a member."</p>
                </Empty>
            }
            .into_any()
        }
    }
}

#[component]
pub fn ProjectPage() -> impl IntoView {
    set_title("Overview");
    let project = Project::here();
    view! {
        <h1>{move || project.title()}</h1>
        <RunList />
    }
}
