//! How the endpoints of a model do.

use domain::api::{Health, ModelSummary, ReplicaSummary};
use leptos::prelude::*;

use crate::components::{Badge, FirstRows, MoreRows};
use crate::format;
use crate::labels::Tone;

/// Cells change; rows are made anew only for other endpoints.
#[component]
pub fn Replicas(#[prop(into)] model: Signal<ModelSummary>) -> impl IntoView {
    // As many as there are workers.
    let first = FirstRows::new();
    let urls = move || first.of(model.read().replicas.iter().map(|replica| replica.url.clone()));
    view! {
        <div class="scroll-x" tabindex="0" role="region" aria-label="Endpoints">
            <table class="grid">
                <thead>
                    <tr>
                        <th scope="col">"Endpoint"</th>
                        <th scope="col">"Health"</th>
                        <th scope="col" class="number">
                            "In flight"
                        </th>
                        <th scope="col" class="number">
                            "Limit"
                        </th>
                        <th scope="col" class="number">
                            "First byte"
                        </th>
                        <th scope="col" class="number">
                            "Answered"
                        </th>
                        <th scope="col" class="number">
                            "Failed"
                        </th>
                    </tr>
                </thead>
                <tbody>
                    <For each=urls key=Clone::clone let:url>
                        <Row url model />
                    </For>
                </tbody>
            </table>
        </div>
        <MoreRows first all=Signal::derive(move || model.read().replicas.len()) />
    }
}

#[component]
fn Row(url: String, model: Signal<ModelSummary>) -> impl IntoView {
    let own = url.clone();
    let replica = Memo::new(move |_| model.read().replicas.iter().find(|replica| replica.url == own).cloned());
    let figure = move |of: fn(&ReplicaSummary) -> String| {
        view! { <td class="number">{move || replica.read().as_ref().map(of)}</td> }
    };
    let state = Memo::new(move |_| replica.read().as_ref().map(|replica| health(replica.health)));
    view! {
        <tr>
            <th scope="row">
                <code>{url}</code>
                {move || {
                    let of_worker = replica.read().as_ref().is_some_and(|replica| replica.worker);
                    of_worker.then(|| view! { " " <Badge tone=Tone::Neutral text="worker" /> })
                }}
            </th>
            <td>{move || state.get().map(|(tone, text)| view! { <Badge tone text /> })}</td>
            {figure(|replica| replica.in_flight.to_string())}
            {figure(|replica| replica.limit.to_string())}
            {figure(|replica| replica.first_byte_ms.map_or_else(|| "–".to_owned(), |ms| format!("{ms:.0} ms")))}
            {figure(|replica| whole(replica.ok))}
            {figure(|replica| whole(replica.failed))}
        </tr>
    }
}

/// What the breaker in front of an endpoint says.
const fn health(health: Option<Health>) -> (Tone, &'static str) {
    match health {
        Some(Health::Closed) => (Tone::Good, "healthy"),
        Some(Health::Failing) => (Tone::Bad, "failing"),
        Some(Health::HalfOpen) => (Tone::Notable, "trying again"),
        Some(Health::Open) => (Tone::Bad, "failing, not used"),
        None => (Tone::Neutral, "not asked yet"),
    }
}

fn whole(n: u64) -> String {
    format::count(i64::try_from(n).unwrap_or(i64::MAX))
}
