//! The frame around every page, and which address shows which page.

use leptos::prelude::*;
use leptos_router::components::{A, ParentRoute, Route, Router, Routes};
use leptos_router::path;

use crate::components::{Account, SignedIn};
use crate::pages::{ConversationPage, MissingPage, RunPage, SignInPage, WelcomePage};
use crate::session::Session;

#[component]
pub fn App() -> impl IntoView {
    provide_context(Session::default());
    view! {
        <Router>
            <header class="top">
                <A href="/" {..} class="brand">
                    "Groundstate"
                </A>
                <Account />
            </header>
            <main class="page">
                <Routes fallback=MissingPage>
                    <Route path=path!("/sign-in") view=SignInPage />
                    <Route path=path!("/welcome") view=WelcomePage />
                    <ParentRoute path=path!("") view=SignedIn>
                        <Route path=path!("/") view=RunPage />
                        <Route path=path!("/conversations/:id") view=ConversationPage />
                    </ParentRoute>
                </Routes>
            </main>
        </Router>
    }
}

/// Names the page in the browser's tab, its history and to a screen reader.
pub fn set_title(page: &str) {
    document().set_title(&format!("{page} · Groundstate"));
}
