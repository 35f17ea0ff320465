//! The frame around every page, and which address shows which page.

use leptos::prelude::*;
use leptos_router::components::{A, Route, Router, Routes};
use leptos_router::path;

use crate::pages::{ConversationPage, MissingPage, RunPage};

#[component]
pub fn App() -> impl IntoView {
    view! {
        <Router>
            <header class="top">
                <A href="/" {..} class="brand">
                    "Groundstate"
                </A>
            </header>
            <main class="page">
                <Routes fallback=MissingPage>
                    <Route path=path!("/") view=RunPage />
                    <Route path=path!("/conversations/:id") view=ConversationPage />
                </Routes>
            </main>
        </Router>
    }
}

/// Names the page in the browser's tab, its history and to a screen reader.
pub fn set_title(page: &str) {
    document().set_title(&format!("{page} · Groundstate"));
}
