//! Name and password.

use domain::api::SignIn;
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};

use ui::components::{Field, FormError, Send, enter, explain_outside, set_title};
use ui::{address, api_client};

#[component]
pub fn SignInPage() -> impl IntoView {
    set_title("Sign in");
    let (name, password) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let (refused, busy) = (RwSignal::new(None), RwSignal::new(false));
    let (name_field, password_field) = (NodeRef::new(), NodeRef::new());
    name_field.on_load(move |_| enter(name_field));
    let back = address::after_sign_in(use_query_map().read_untracked().get("back"));
    let navigate = use_navigate();

    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        refused.set(None);
        let (back, navigate) = (back.clone(), navigate.clone());
        spawn_local(async move {
            let given = SignIn { name: name.get_untracked(), password: password.get_untracked() };
            let done = api_client::session::sign_in(&given).await;
            busy.set(false);
            match done {
                Ok(_) => navigate(&back, NavigateOptions { replace: true, ..NavigateOptions::default() }),
                Err(error) => {
                    refused.set(Some(explain_outside(error)));
                    enter(password_field);
                }
            }
        });
    };
    view! {
        // What is typed must never stand in an address, even if this program cannot run: hence the method.
        <form class="panel form" method="post" on:submit=submit>
            <h1>"Sign in"</h1>
            <FormError why=refused />
            <Field label="Name" id="name" autocomplete="username" value=name node=name_field />
            <Field
                label="Password"
                id="password"
                kind="password"
                autocomplete="current-password"
                value=password
                node=password_field
            />
            <Send label="Sign in" busy />
            <p class="muted">"No password yet, or forgotten? Ask an administrator for a link."</p>
        </form>
    }
}
