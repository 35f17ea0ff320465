//! One-time links by which people choose a password.

use domain::api::{Invitation, NewUser};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use ui::components::{Command, FormError, Problems, Send, TextField, send};
use ui::{api_client, format};

#[component]
pub fn InviteForm(open: RwSignal<bool>, invited: Callback<()>) -> impl IntoView {
    let made = RwSignal::new(None::<Invitation>);
    let (name, administrator) = (RwSignal::new(String::new()), RwSignal::new(false));
    let (problems, busy) = (Problems::default(), RwSignal::new(false));
    let submit = move |event: SubmitEvent| {
        let name = name.get_untracked().trim().to_owned();
        let user = NewUser { name, administrator: administrator.get_untracked() };
        let ask = async move { api_client::people::invite(&user).await };
        send(&event, busy, problems, ask, move |invitation| {
            made.try_set(Some(invitation));
            invited.run(());
        });
    };
    move || match made.get() {
        Some(invitation) => view! { <Link invitation open /> }.into_any(),
        None => view! {
            <form class="stack" on:submit=submit>
                <FormError why=problems />
                <TextField
                    label="Name"
                    value=name
                    hint="Name to sign in with: lower-case letters, digits and . _ @ + -"
                    wrong=problems.at("/name")
                />
                <label class="check">
                    <input type="checkbox" bind:checked=administrator />
                    <span>"Administrator: may do everything in every project"</span>
                </label>
                <div class="actions">
                    <Send label="Invite" busy />
                </div>
            </form>
        }
        .into_any(),
    }
}

/// The link, which nobody can look up again.
#[component]
pub fn Link(invitation: Invitation, open: RwSignal<bool>) -> impl IntoView {
    let Invitation { user, path, expires_at, .. } = invitation;
    // It fails for no page that was loaded from a server.
    let link = format!("{}{path}", window().location().origin().unwrap_or_default());
    view! {
        <div class="stack shown-once">
            <p>
                {format!(
                    "Give this link to {user}: it works once, until {}, and is shown only now.",
                    format::time(expires_at),
                )}
            </p>
            <Command label="One-time link" text=link />
            <p class="muted hint">"Then make them a member of a project, on its page Members."</p>
            <div class="actions">
                <button type="button" class="main" on:click=move |_| open.set(false)>
                    "I have copied it"
                </button>
            </div>
        </div>
    }
}
