//! People who rate: queues, agreement, and judges beside people.

mod agreement;
mod calibration;
mod calibrations;
mod choices;
mod filter;
mod form_state;
mod items;
mod new_queue;
mod progress;
mod queue;
mod queues;
mod rate;
mod url_state;

use leptos::prelude::*;
use leptos_router::components::{Outlet, ParentRoute, Route};
use leptos_router::path;

use ui::parts::{pages, part};

pages! {
    review:
    queues() => queues::ReviewsPage(),
    new_queue() => new_queue::NewQueuePage(),
    queue() => queue::QueuePage(),
    rate() => rate::RatePage(),
    calibration() => calibration::CalibrationPage(),
}

#[component(transparent)]
pub fn ReviewRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/reviews") view=|| part(queues) />
            <Route path=path!("/reviews/new") view=|| part(new_queue) />
            <Route path=path!("/reviews/:queue") view=|| part(queue) />
            <Route path=path!("/reviews/:queue/rate") view=|| part(rate) />
            <Route path=path!("/calibrations/:calibration") view=|| part(calibration) />
        </ParentRoute>
    }
    .into_inner()
}
