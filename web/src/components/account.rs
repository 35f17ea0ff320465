//! Who is signed in, and the way out.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::address::SIGN_IN;
use crate::api_client;
use crate::components::explain;
use crate::session::Session;

#[component]
pub fn Account() -> impl IntoView {
    let session = Session::here();
    let failed = RwSignal::new(None);
    let navigate = StoredValue::new_local(use_navigate());
    let sign_out = move |_| {
        spawn_local(async move {
            match api_client::sign_out().await {
                Err(error) if !error.is_signed_out() => failed.set(Some(explain(error))),
                Ok(()) | Err(_) => {
                    failed.set(None);
                    session.set(None);
                    navigate.with_value(|navigate| navigate(SIGN_IN, NavigateOptions::default()));
                }
            }
        });
    };
    move || {
        let name = session.name()?;
        Some(view! {
            <div class="account">
                {move || failed.get().map(|text: String| view! { <span role="alert">{text}</span> })}
                <span>
                    <span class="muted">"Signed in as "</span>
                    {name}
                </span>
                <button type="button" on:click=sign_out>
                    "Sign out"
                </button>
            </div>
        })
    }
}
