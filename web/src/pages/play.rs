//! Runs: ordering them and following them.

mod run;
mod runs;

use leptos::prelude::*;
use leptos_router::components::Route;
use leptos_router::{MatchNestedRoutes, path};

pub use runs::RunList;

#[component(transparent)]
pub fn PlayRoutes() -> impl MatchNestedRoutes + Clone {
    view! {
        <Route path=path!("/runs") view=runs::RunsPage />
        <Route path=path!("/runs/:run") view=run::RunPage />
    }
    .into_inner()
}
