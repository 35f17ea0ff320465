//! Runs: ordering them and following them.

mod launch;
mod row;
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
    row() => row::RowPage(),
}

#[component(transparent)]
pub fn PlayRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/runs") view=|| part(runs) />
            <Route path=path!("/runs/new") view=|| part(launch) />
            <Route path=path!("/runs/:run") view=|| part(run) />
            <Route path=path!("/runs/:run/rows/:position") view=|| part(row) />
        </ParentRoute>
    }
    .into_inner()
}
