//! Finds out who is signed in before a page asks for anything, and lets nobody else see it.

use leptos::prelude::*;
use leptos_router::components::Outlet;

use crate::api_client;
use crate::components::{Shell, show};
use crate::session::Session;

#[component]
pub fn SignedIn() -> impl IntoView {
    let here = Session::here();
    let session = LocalResource::new(move || async move {
        let session = api_client::session::current().await;
        here.set(session.clone().ok());
        session
    });
    show("your session", session, |_| {
        view! {
            <Shell>
                <Outlet />
            </Shell>
        }
    })
}
