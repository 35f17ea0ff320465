//! Letting workers join: a token, shown once, and the command that takes it.

use domain::api::workers::{JoinTokenSummary, NewJoinToken, NewJoinTokenAnswer};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use ui::components::{Command, Confirm, FirstRows, FormError, MoreRows, Problems, Send, TextField, act, send, show};
use ui::{api_client, format};

#[component]
pub fn Join(open: RwSignal<bool>) -> impl IntoView {
    let made = RwSignal::new(None::<NewJoinTokenAnswer>);
    move || match made.get() {
        Some(made) => view! { <NewSecret made open /> }.into_any(),
        None => view! { <JoinTokenForm made /> }.into_any(),
    }
}

#[component]
fn JoinTokenForm(made: RwSignal<Option<NewJoinTokenAnswer>>) -> impl IntoView {
    let (name, problems, busy) = (RwSignal::new(String::new()), Problems::default(), RwSignal::new(false));
    let tokens = LocalResource::new(api_client::workers::tokens);
    let submit = move |event: SubmitEvent| {
        let token = NewJoinToken { name: name.get_untracked(), expires_at: None };
        let ask = async move { api_client::workers::make_token(&token).await };
        send(&event, busy, problems, ask, move |answer| {
            made.try_set(Some(answer));
        });
    };
    let known = show("join tokens", tokens, move |known: Vec<JoinTokenSummary>| {
        (!known.is_empty()).then(|| view! { <JoinTokenList known again=Callback::new(move |()| tokens.refetch()) /> })
    });
    view! {
        <form class="stack" on:submit=submit>
            <p class="muted">
                "Workers join with a token. Anybody who has one can offer endpoints to this installation, and conversations \
                 are sent there; it allows nothing else, and is valid for 90 days."
            </p>
            <FormError why=problems />
            <TextField label="Purpose" value=name placeholder="rack 7" wrong=problems.at("/name") />
            <div class="actions">
                <Send label="Make a join token" busy />
            </div>
        </form>
        {known}
    }
}

#[component]
fn JoinTokenList(known: Vec<JoinTokenSummary>, again: Callback<()>) -> impl IntoView {
    let (first, all) = (FirstRows::new(), known.len());
    let shown = move || first.of(known.iter().cloned());
    view! {
        <h3>"Tokens"</h3>
        <ul class="plain">
            <For each=shown key=|token| token.id.clone() let:token>
                <JoinTokenRow token tokens=again />
            </For>
        </ul>
        <MoreRows first all=Signal::stored(all) />
    }
}

#[component]
fn JoinTokenRow(token: JoinTokenSummary, tokens: Callback<()>) -> impl IntoView {
    let (sure, busy) = (RwSignal::new(false), RwSignal::new(false));
    let (id, name) = (token.id, token.name);
    let done = format!("{name} was deleted.");
    let withdraw = move || {
        let id = id.clone();
        act(busy, done.clone(), async move { api_client::workers::withdraw_token(&id).await }, move |()| {
            tokens.run(());
        });
    };
    view! {
        <li>
            {name.clone()}
            " "
            <span class="muted">"until " {format::time(token.expires_at)}</span>
            " "
            <button type="button" class="danger" aria-label=format!("Delete {name}") on:click=move |_| sure.set(true)>
                "Delete …"
            </button>
            <Confirm
                title=format!("Delete {name}?")
                text="Workers that joined with it get no more requests."
                yes_says="Delete it"
                open=sure
                yes=move |()| withdraw()
            />
        </li>
    }
}

#[component]
fn NewSecret(made: NewJoinTokenAnswer, open: RwSignal<bool>) -> impl IntoView {
    let server = window().location().origin().unwrap_or_default();
    let command = format!(
        "GROUNDSTATE_JOIN_TOKEN={} \\\n  groundstate worker --server {server} --model NAME --engine vllm",
        made.secret
    );
    view! {
        <div class="stack shown-once">
            <p>"It is shown only now. On the machine that serves the model, with the model's name:"</p>
            <Command label="Start a worker" text=command />
            <p class="muted hint">
                "Engines: vllm, sglang, llama-server, or external for an endpoint that somebody else runs. "
                <code>"--dry-run"</code> " shows what would be started."
            </p>
            <div class="actions">
                <button type="button" class="main" on:click=move |_| open.set(false)>
                    "I have copied it"
                </button>
            </div>
        </div>
    }
}
