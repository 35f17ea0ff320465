//! Runs: ordering them and following them.

mod launch;
mod run;
mod runs;

use leptos::prelude::*;
use leptos_router::components::{Outlet, ParentRoute, Route};
use leptos_router::path;

pub use launch::{NumberField, number};
pub use runs::{NewRun, PlayDemo, RunTable};

#[component(transparent)]
pub fn PlayRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/runs") view=runs::RunsPage />
            <Route path=path!("/runs/new") view=launch::LaunchPage />
            <Route path=path!("/runs/:run") view=run::RunPage />
        </ParentRoute>
    }
    .into_inner()
}
