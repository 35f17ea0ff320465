//! Where one-time links lead: somebody chooses a password, and the first administrator a name.
//!
//! The secret is the fragment of the address, which browsers keep to themselves: no server and no log has it.

use domain::api::{AcceptInvitation, LinkRecipient};
use leptos::ev::SubmitEvent;
use leptos::html::Input;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::{use_location, use_navigate};

use ui::address::{HOME, SIGN_IN};
use ui::api_client::{self, ApiError};
use ui::components::{Failure, Field, FormError, Loading, Send, enter, explain_outside, set_title};

const FORBIDDEN: u16 = 403;

#[component]
pub fn WelcomePage() -> impl IntoView {
    set_title("Welcome");
    let fragment = use_location().hash;
    // Whoever is let in leaves the address with the secret behind, which must not be asked for again.
    let secret = Memo::new(move |known: Option<&String>| match fragment.read().trim_start_matches('#') {
        "" => known.cloned().unwrap_or_default(),
        secret => secret.to_owned(),
    });
    let invited = LocalResource::new(move || {
        let secret = secret.get();
        async move { api_client::session::invited(&secret).await }
    });
    let retry = move || {
        invited.set(None);
        invited.refetch();
    };
    move || match invited.get() {
        None => view! { <Loading what="the link" /> }.into_any(),
        Some(Ok(invited)) => view! { <PasswordForm secret=secret.get_untracked() invited /> }.into_any(),
        Some(Err(ApiError::Refused(problem))) if problem.status == FORBIDDEN => view! { <LinkExpired /> }.into_any(),
        Some(Err(error)) => view! { <Failure error retry /> }.into_any(),
    }
}

#[component]
fn PasswordForm(secret: String, invited: LinkRecipient) -> impl IntoView {
    let first = invited.name.is_none();
    let name = RwSignal::new(invited.name.unwrap_or_default());
    let (password, again) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let (refused, busy) = (RwSignal::new(None), RwSignal::new(false));
    let (name_field, password_field) = (NodeRef::<Input>::new(), NodeRef::<Input>::new());
    let begin = if first { name_field } else { password_field };
    begin.on_load(move |_| enter(begin));
    let navigate = use_navigate();

    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        if password.get_untracked() != again.get_untracked() {
            refused.set(Some("The two passwords differ.".to_owned()));
            enter(password_field);
            return;
        }
        busy.set(true);
        refused.set(None);
        let (name, password) = (name.get_untracked(), password.get_untracked());
        let given = AcceptInvitation { secret: secret.clone(), name: Some(name), password };
        let navigate = navigate.clone();
        spawn_local(async move {
            let done = api_client::session::accept(&given).await;
            busy.set(false);
            match done {
                // The address with the secret, which is used up, does not stay in the history.
                Ok(_) => navigate(HOME, NavigateOptions { replace: true, ..NavigateOptions::default() }),
                Err(error) => {
                    refused.set(Some(explain_outside(error)));
                    enter(begin);
                }
            }
        });
    };
    view! {
        <form class="panel form" method="post" on:submit=submit>
            <h1>"Welcome to Groundstate"</h1>
            <p class="muted">{if first { FIRST } else { INVITED }}</p>
            <FormError why=refused />
            <Field
                label="Name"
                id="name"
                autocomplete="username"
                value=name
                hint=if first { "Letters a-z, digits and . _ @ + -" } else { "It was chosen for you." }
                readonly=!first
                node=name_field
            />
            <Field
                label="Password"
                id="password"
                kind="password"
                autocomplete="new-password"
                value=password
                hint="At least 10 characters. A few unrelated words are better than special characters."
                node=password_field
            />
            <Field label="Password, again" id="again" kind="password" autocomplete="new-password" value=again />
            <Send label="Begin" busy />
        </form>
    }
}

const FIRST: &str = "You become the administrator of this installation: you invite others and may do everything.";
const INVITED: &str = "Choose the password with which you sign in from now on.";

#[component]
fn LinkExpired() -> impl IntoView {
    view! {
        <section class="notice" role="alert">
            <h1>"This link is no longer valid."</h1>
            <p>
                "It was used or has expired. If you have chosen a password already, "
                <A href=SIGN_IN>"sign in"</A>
                ". Otherwise ask an administrator for another link, or, on the machine that serves Groundstate:"
            </p>
            <pre class="command" tabindex="0" aria-label="Command">
                <code>"groundstate users link NAME"</code>
            </pre>
        </section>
    }
}
