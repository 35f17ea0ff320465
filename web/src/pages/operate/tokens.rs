//! API tokens of who is signed in.

use domain::api::TokenSummary;
use leptos::prelude::*;

use super::token_form::TokenForm;
use ui::components::{Badge, Confirm, Dialog, Empty, PagedList, act, set_title};
use ui::labels::Tone;
use ui::{api_client, format};

#[component]
pub fn TokensPage() -> impl IntoView {
    set_title("Tokens");
    let make = RwSignal::new(false);
    // What was made or deleted shows in a list that is read anew.
    let read = RwSignal::new(0_u32);
    let again = Callback::new(move |()| read.update(|read| *read += 1));
    view! {
        <header class="head">
            <h1>"Tokens"</h1>
            <button type="button" class="main" on:click=move |_| make.set(true)>
                "Make a token"
            </button>
        </header>
        {move || {
            read.track();
            view! { <List again /> }
        }}
        <Dialog title="Make a token" open=make>
            <TokenForm open=make again />
        </Dialog>
    }
}

#[component]
fn List(again: Callback<()>) -> impl IntoView {
    view! {
        <PagedList what="tokens" load=api_client::tokens::list empty=|| view! { <NoTokens /> } let:rows>
            <table class="rows">
                <thead>
                    <tr>
                        <th scope="col">"Token"</th>
                        <th scope="col">"Scopes"</th>
                        <th scope="col">"Projects"</th>
                        <th scope="col">"Created"</th>
                        <th scope="col">"Last used"</th>
                        <th scope="col">"Expires"</th>
                        <td></td>
                    </tr>
                </thead>
                <tbody>
                    <For each=move || rows.get() key=|token: &TokenSummary| token.id.clone() let:token>
                        <Row token again />
                    </For>
                </tbody>
            </table>
        </PagedList>
    }
}

#[component]
fn NoTokens() -> impl IntoView {
    view! {
        <Empty title="No tokens yet.">
            <p>"Programs use the REST API and the command line with a token, in your name."</p>
        </Empty>
    }
}

#[component]
fn Row(token: TokenSummary, again: Callback<()>) -> impl IntoView {
    let (sure, busy) = (RwSignal::new(false), RwSignal::new(false));
    let (id, name) = (token.id, token.name);
    let done = format!("{name} was deleted.");
    let withdraw = move || {
        let id = id.clone();
        act(busy, done.clone(), async move { api_client::tokens::withdraw(&id).await }, move |()| again.run(()));
    };
    let scopes = token.scopes.iter().map(|scope| view! { <Badge tone=Tone::Neutral text=scope.into_str() /> });
    view! {
        <tr>
            <td class="scenario text">{name.clone()}</td>
            <td>{scopes.collect_view()}</td>
            <td>{token.project.unwrap_or_else(|| "all your projects".to_owned())}</td>
            <td>{format::time(token.created_at)}</td>
            <td>{token.last_used_at.map_or_else(|| "never".to_owned(), format::time)}</td>
            <td>{token.expires_at.map_or_else(|| "never".to_owned(), format::time)}</td>
            <td>
                <button
                    type="button"
                    class="danger"
                    aria-label=format!("Delete {name}")
                    on:click=move |_| sure.set(true)
                >
                    "Delete …"
                </button>
                <Confirm
                    title=format!("Delete {name}?")
                    text="Programs that use it are refused from then on. This cannot be undone."
                    yes_says="Delete it"
                    open=sure
                    yes=move |()| withdraw()
                />
            </td>
        </tr>
    }
}
