//! People who rate: queues, agreement, and judges beside people.

mod agreement;
mod calibration;
mod calibrations;
mod choices;
mod filter;
mod items;
mod new_queue;
mod progress;
mod queue;
mod queues;
mod rate;
mod rating_form;

use leptos::prelude::*;
use leptos_router::components::{Outlet, ParentRoute, Route};
use leptos_router::path;

pub use rating_form::RatingForm;

#[component(transparent)]
pub fn ReviewRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/reviews") view=queues::ReviewsPage />
            <Route path=path!("/reviews/new") view=new_queue::NewQueuePage />
            <Route path=path!("/reviews/:queue") view=queue::QueuePage />
            <Route path=path!("/reviews/:queue/rate") view=rate::RatePage />
            <Route path=path!("/calibrations/:calibration") view=calibration::CalibrationPage />
        </ParentRoute>
    }
    .into_inner()
}
