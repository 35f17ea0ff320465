//! Making a token. Its secret is shown once.

use chrono::{DateTime, Utc};
use domain::access::Scope;
use domain::api::{NewToken, NewTokenAnswer};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use strum::VariantArray;

use ui::api_client;
use ui::components::{Command, FormError, FormField, Problems, Send, TextField, send};
use ui::session::Session;

/// How long a token holds, in days; none: for good.
const DAYS: [(&str, &str); 4] = [("30", "30 days"), ("90", "90 days"), ("365", "a year"), ("", "never expires")];
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

#[component]
pub fn TokenForm(
    open: RwSignal<bool>,
    /// The list is to be read anew.
    again: Callback<()>,
) -> impl IntoView {
    let made = RwSignal::new(None::<NewTokenAnswer>);
    move || match made.get() {
        Some(made) => view! { <NewSecret made open /> }.into_any(),
        None => view! { <Form made again /> }.into_any(),
    }
}

#[component]
fn Form(made: RwSignal<Option<NewTokenAnswer>>, again: Callback<()>) -> impl IntoView {
    let text = |text: &str| RwSignal::new(text.to_owned());
    let (name, scope, project, days) = (text(""), RwSignal::new(Scope::Read), text(""), text("90"));
    let (problems, busy) = (Problems::default(), RwSignal::new(false));
    let submit = move |event: SubmitEvent| {
        let token = NewToken {
            name: name.get_untracked(),
            scopes: vec![scope.get_untracked()],
            project: Some(project.get_untracked()).filter(|only| !only.is_empty()),
            expires_at: expiry(&days.read_untracked()),
        };
        let ask = async move { api_client::tokens::create(&token).await };
        send(&event, busy, problems, ask, move |answer| {
            made.try_set(Some(answer));
            again.run(());
        });
    };
    let way = move |own: Scope| {
        view! {
            <label class="check">
                <input
                    type="radio"
                    name="scope"
                    prop:checked=move || scope.get() == own
                    on:change=move |_| scope.set(own)
                />
                <span>
                    <strong>{own.into_str()}</strong>
                    " "
                    <span class="muted">{may(own)}</span>
                </span>
            </label>
        }
    };
    let projects = Session::here().projects();
    let wrong = problems.at("/scopes");
    view! {
        <form class="stack" on:submit=submit>
            <FormError why=problems />
            <TextField label="Purpose" value=name placeholder="nightly run" wrong=problems.at("/name") />
            <fieldset class="field checks-of">
                <legend>"Permissions"</legend>
                {Scope::VARIANTS.iter().copied().map(way).collect_view()}
                {move || wrong.get().map(|text| view! { <p class="wrong">{text}</p> })}
            </fieldset>
            <FormField label="Projects" wrong=problems.at("/project")>
                <select bind:value=project>
                    <option value="">"in all your projects"</option>
                    {projects
                        .into_iter()
                        .map(|project| view! { <option value=project.project>{project.title}</option> })
                        .collect_view()}
                </select>
            </FormField>
            <FormField label="Expires after" wrong=problems.at("/expires_at")>
                <select bind:value=days>
                    {DAYS
                        .map(|(days, says)| view! { <option value=days selected=days == "90">{says}</option> })
                        .into_iter()
                        .collect_view()}
                </select>
            </FormField>
            <div class="actions">
                <Send label="Make the token" busy />
            </div>
        </form>
    }
}

#[component]
fn NewSecret(made: NewTokenAnswer, open: RwSignal<bool>) -> impl IntoView {
    view! {
        <div class="stack shown-once">
            <p>"It is shown only now. Copy it to where it is used:"</p>
            <Command label="Secret of the token" text=made.secret />
            <p class="muted hint">"Programs send it as " <code>"Authorization: Bearer …"</code></p>
            <div class="actions">
                <button type="button" class="main" on:click=move |_| open.set(false)>
                    "I have copied it"
                </button>
            </div>
        </div>
    }
}

const fn may(scope: Scope) -> &'static str {
    match scope {
        Scope::Read => "can read everything",
        Scope::Author => "can also write documents, corpora and reviews",
        Scope::Run => "can also start runs and judgings, which spend money, and make exports",
        Scope::Admin => "can also manage members",
    }
}

#[expect(clippy::cast_possible_truncation, reason = "milliseconds of this century")]
fn expiry(days: &str) -> Option<DateTime<Utc>> {
    let days: i64 = days.parse().ok()?;
    DateTime::from_timestamp_millis(js_sys::Date::now() as i64 + days * DAY_MS)
}
