//! Where everybody comes in: leads to a project.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::Redirect;

use ui::address;
use ui::components::{Empty, set_title};
use ui::session::Session;

#[component]
pub fn HomePage() -> impl IntoView {
    set_title("Home");
    let options = NavigateOptions { replace: true, ..NavigateOptions::default() };
    match Session::here().project() {
        Some(project) => view! { <Redirect path=address::project(&project, "") options /> }.into_any(),
        None => view! {
            <Empty title="You are not a member of any project yet.">
                <p>"Ask an admin of a project to add you, then reload."</p>
            </Empty>
        }
        .into_any(),
    }
}
