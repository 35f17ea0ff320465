//! API tokens of who is signed in.

use domain::api::TokenSummary;
use leptos::prelude::*;

use super::token_form::TokenForm;
use crate::action::act;
use crate::app::set_title;
use crate::components::{Badge, Confirm, Dialog, Empty, show};
use crate::labels::Tone;
use crate::{api_client, format};

#[component]
pub fn TokensPage() -> impl IntoView {
    set_title("Tokens");
    let make = RwSignal::new(false);
    let tokens = LocalResource::new(api_client::tokens::list);
    let again = Callback::new(move |()| tokens.refetch());
    let list = show("tokens", tokens, move |tokens: Vec<TokenSummary>| {
        if tokens.is_empty() {
            return view! {
                <Empty title="You have no token yet.">
                    <p>"Programs use the REST API and the command line with a token, in your name."</p>
                </Empty>
            }
            .into_any();
        }
        view! {
            <table class="rows">
                <thead>
                    <tr>
                        <th scope="col">"Token"</th>
                        <th scope="col">"May"</th>
                        <th scope="col">"In"</th>
                        <th scope="col">"Made"</th>
                        <th scope="col">"Last used"</th>
                        <th scope="col">"Expires"</th>
                        <td></td>
                    </tr>
                </thead>
                <tbody>
                    {tokens.into_iter().map(|token| view! { <Row token again /> }).collect_view()}
                </tbody>
            </table>
        }
        .into_any()
    });
    view! {
        <header class="head">
            <h1>"Tokens"</h1>
            <button type="button" class="main" on:click=move |_| make.set(true)>
                "Make a token"
            </button>
        </header>
        {list}
        <Dialog title="Make a token" open=make>
            <TokenForm open=make again />
        </Dialog>
    }
}

#[component]
fn Row(token: TokenSummary, again: Callback<()>) -> impl IntoView {
    let (sure, busy) = (RwSignal::new(false), RwSignal::new(false));
    let (id, name) = (token.id, token.name);
    let done = format!("{name} is withdrawn.");
    let withdraw = move || {
        let id = id.clone();
        act(busy, done.clone(), async move { api_client::tokens::withdraw(&id).await }, move |()| again.run(()));
    };
    let scopes = token.scopes.iter().map(|scope| view! { <Badge tone=Tone::Neutral text=scope.as_str() /> });
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
                    aria-label=format!("Withdraw {name}")
                    on:click=move |_| sure.set(true)
                >
                    "Withdraw …"
                </button>
                <Confirm
                    title=format!("Withdraw {name}?")
                    text="Programs that use it are refused from then on. It does not come back."
                    yes_says="Withdraw it"
                    open=sure
                    yes=move |()| withdraw()
                />
            </td>
        </tr>
    }
}
