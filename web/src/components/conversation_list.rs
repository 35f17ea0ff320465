//! The conversations of a run, a page at a time: a run may have a hundred thousand.

use domain::api::ConversationSummary;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::components::A;

use crate::api_client::{self, ApiError};
use crate::components::{Badge, Failure, Loading};
use crate::{address, labels};

/// What follows the rows that are here.
#[derive(Clone)]
enum Rest {
    Loading,
    /// A cursor.
    More(String),
    Nothing,
    /// The page after this cursor did not come.
    Failed(ApiError, Option<String>),
}

#[component]
pub fn ConversationList(run_id: String) -> impl IntoView {
    let run_id = StoredValue::new(run_id);
    let rows = RwSignal::new(Vec::<ConversationSummary>::new());
    let rest = RwSignal::new(Rest::Loading);

    let load = move |after: Option<String>| {
        let run_id = run_id.get_value();
        rest.set(Rest::Loading);
        spawn_local(async move {
            let page = api_client::conversations(&run_id, after.as_deref()).await;
            // The reader may have left the page meanwhile; then there is nobody to tell.
            match page {
                Ok(page) => {
                    rows.try_update(|rows| rows.extend(page.items));
                    rest.try_set(page.next.map_or(Rest::Nothing, Rest::More));
                }
                Err(error) => {
                    rest.try_set(Rest::Failed(error, after));
                }
            }
        });
    };
    load(None);

    view! {
        <section aria-labelledby="conversations">
            <h2 id="conversations">"Conversations"</h2>
            <Show when=move || !rows.read().is_empty()>
                <table class="rows">
                    <thead>
                        <tr>
                            <th scope="col" class="number">"#"</th>
                            <th scope="col">"Scenario"</th>
                            <th scope="col">"Persona"</th>
                            <th scope="col">"Complexity"</th>
                            <th scope="col">"Outcome"</th>
                            <th scope="col" class="number">"Score"</th>
                        </tr>
                    </thead>
                    <tbody>
                        <For each=move || rows.get() key=|row| row.id.clone() let:row>
                            <Row row />
                        </For>
                    </tbody>
                </table>
            </Show>
            {move || match rest.get() {
                Rest::Loading => view! { <Loading what="conversations" /> }.into_any(),
                Rest::Nothing if rows.read_untracked().is_empty() => {
                    view! { <p class="muted">"No conversation has begun."</p> }.into_any()
                }
                Rest::Nothing => ().into_any(),
                Rest::More(cursor) => {
                    view! {
                        <button type="button" class="more" on:click=move |_| load(Some(cursor.clone()))>
                            "More"
                        </button>
                    }
                        .into_any()
                }
                Rest::Failed(error, after) => {
                    view! { <Failure error retry=move || load(after.clone()) /> }.into_any()
                }
            }}
        </section>
    }
}

#[component]
fn Row(row: ConversationSummary) -> impl IntoView {
    let (tone, outcome) = labels::outcome(&row);
    let address = address::conversation(&row.id);
    view! {
        <tr>
            <td class="number muted">{i64::from(row.position) + 1}</td>
            <td class="scenario">
                <A href=address>{row.scenario}</A>
            </td>
            <td>{row.persona}</td>
            <td>{labels::words(&row.complexity)}</td>
            <td>
                <Badge tone text=outcome />
            </td>
            <td class="number">{row.overall.map_or_else(|| "–".to_owned(), |overall| format!("{overall}/10"))}</td>
        </tr>
    }
}
