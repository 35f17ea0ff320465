//! The conversations of a run.

use domain::api::ConversationSummary;
use leptos::prelude::*;
use leptos_router::components::A;

use crate::components::{Badge, PagedList};
use crate::session::Project;
use crate::{address, api_client, labels};

#[component]
pub fn ConversationList(run: String) -> impl IntoView {
    let load = move |after| {
        let run = run.clone();
        async move { api_client::runs::conversations(&run, after).await }
    };
    view! {
        <section aria-labelledby="conversations">
            <h2 id="conversations">"Conversations"</h2>
            <PagedList
                what="conversations"
                load
                empty=|| view! { <p class="muted">"No conversation has begun."</p> }
                let:rows
            >
                <table class="rows">
                    <thead>
                        <tr>
                            <th scope="col" class="number">
                                "#"
                            </th>
                            <th scope="col">"Scenario"</th>
                            <th scope="col">"Persona"</th>
                            <th scope="col">"Complexity"</th>
                            <th scope="col">"Outcome"</th>
                            <th scope="col" class="number">
                                "Score"
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        <For each=move || rows.get() key=|row: &ConversationSummary| row.id.clone() let:row>
                            <Row row />
                        </For>
                    </tbody>
                </table>
            </PagedList>
        </section>
    }
}

#[component]
fn Row(row: ConversationSummary) -> impl IntoView {
    let (tone, outcome) = labels::outcome(&row);
    let href = address::conversation(&Project::here().name(), &row.id);
    view! {
        <tr>
            <td class="number muted">{i64::from(row.position) + 1}</td>
            <td class="scenario">
                <A href>{row.scenario}</A>
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
