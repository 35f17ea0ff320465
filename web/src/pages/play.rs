//! Runs: ordering them and following them.

mod launch;
mod run;
mod runs;

use leptos::prelude::*;
use leptos_router::components::{Outlet, ParentRoute, Route};
use leptos_router::path;

use ui::parts::{pages, part};

pub use runs::{NewRun, PlayDemo, RunTable};

pages! {
    play:
    runs() => runs::RunsPage(),
    launch() => launch::LaunchPage(),
    run() => run::RunPage(),
}

#[component(transparent)]
pub fn PlayRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/runs") view=|| part(runs) />
            <Route path=path!("/runs/new") view=|| part(launch) />
            <Route path=path!("/runs/:run") view=|| part(run) />
        </ParentRoute>
    }
    .into_inner()
}
