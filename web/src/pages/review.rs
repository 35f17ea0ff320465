//! People who rate, annotate and correct.

mod rating_form;

use leptos::prelude::*;
use leptos_router::components::{Outlet, ParentRoute, Route};
use leptos_router::path;

use crate::pages::MissingPage;

pub use rating_form::RatingForm;

#[component(transparent)]
pub fn ReviewRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/reviews") view=MissingPage />
        </ParentRoute>
    }
    .into_inner()
}
