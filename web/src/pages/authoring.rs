//! Documents: scenarios, playbooks, personas and judges.

use leptos::prelude::*;
use leptos_router::components::Route;
use leptos_router::{MatchNestedRoutes, path};

use crate::pages::MissingPage;

#[component(transparent)]
pub fn AuthoringRoutes() -> impl MatchNestedRoutes + Clone {
    view! { <Route path=path!("/scenarios") view=MissingPage /> }.into_inner()
}
