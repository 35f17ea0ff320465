//! Who is signed in, how they like it, and the way out.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use strum::VariantArray;

use crate::address::SIGN_IN;
use crate::api_client;
use crate::components::explain;
use crate::session::Session;
use crate::theme::{Choice, Theme};

#[component]
pub fn Account() -> impl IntoView {
    let session = Session::here();
    let failed = RwSignal::new(None);
    let navigate = StoredValue::new_local(use_navigate());
    let sign_out = move |_| {
        spawn_local(async move {
            match api_client::session::sign_out().await {
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
                <ThemeChoice />
                <button type="button" on:click=sign_out>
                    "Sign out"
                </button>
            </div>
        })
    }
}

#[component]
fn ThemeChoice() -> impl IntoView {
    let theme = Theme::here();
    view! {
        <label>
            <span class="muted">"Theme "</span>
            <select on:change:target=move |event| theme.choose(event.target().value().parse().unwrap_or_default())>
                {Choice::VARIANTS
                    .iter()
                    .map(|choice| {
                        let name = choice.into_str();
                        view! {
                            <option value=name prop:selected=move || theme.get() == *choice>
                                {name}
                            </option>
                        }
                    })
                    .collect_view()}
            </select>
        </label>
    }
}
