//! Whether the endpoints of a model answer as the platform needs it: tried before a run spends money.

use domain::api::probe::{ProbeCheck, ProbeKind, ReplicaProbe};
use leptos::prelude::*;

use crate::action::act;
use crate::api_client;
use crate::components::Badge;
use crate::format;
use crate::labels::Tone;
use crate::session::Session;

#[component]
pub fn Probe(name: String) -> impl IntoView {
    let (found, busy) = (RwSignal::new(None::<Vec<ReplicaProbe>>), RwSignal::new(false));
    let name = StoredValue::new(name);
    let ask = move |_| {
        let name = name.get_value();
        act(busy, "", async move { api_client::models::probe(&name).await }, move |answer| found.set(Some(answer)));
    };
    Session::here().is_administrator().then(|| {
        view! {
            <div class="probe">
                <p class="actions">
                    <button type="button" aria-disabled=move || busy.get().to_string() on:click=ask>
                        {move || if busy.get() { "Asking …" } else { "Probe" }}
                    </button>
                    <span class="muted hint">
                        "Asks each endpoint three small questions: for words, for a tool call, for JSON."
                    </span>
                </p>
                <div aria-live="polite">
                    {move || found.get().map(|found| found.into_iter().map(|one| view! { <Found one /> }).collect_view())}
                </div>
            </div>
        }
    })
}

#[component]
fn Found(one: ReplicaProbe) -> impl IntoView {
    let label = format!("What {} answered", one.url);
    view! {
        <div class="scroll-x" tabindex="0" role="region" aria-label=label>
            <table class="grid">
                <caption>
                    <code>{one.url}</code>
                </caption>
                <thead>
                    <tr>
                        <th scope="col">"Asked for"</th>
                        <th scope="col">"Result"</th>
                        <th scope="col" class="number">
                            "First byte"
                        </th>
                        <th scope="col" class="number">
                            "Whole"
                        </th>
                        <th scope="col">"What it said"</th>
                    </tr>
                </thead>
                <tbody>{one.checks.into_iter().map(|check| view! { <Row check /> }).collect_view()}</tbody>
            </table>
        </div>
    }
}

#[component]
fn Row(check: ProbeCheck) -> impl IntoView {
    let asked = match check.kind {
        ProbeKind::Reply => "words",
        ProbeKind::ToolCall => "a tool call",
        ProbeKind::JsonSchema => "JSON of a schema",
    };
    let (tone, says) = if check.passed { (Tone::Good, "works") } else { (Tone::Bad, "does not work") };
    let milliseconds = |ms: u64| format!("{} ms", format::count(i64::try_from(ms).unwrap_or(i64::MAX)));
    view! {
        <tr>
            <th scope="row">{asked}</th>
            <td>
                <Badge tone text=says />
            </td>
            <td class="number">{check.first_byte_ms.map_or_else(|| "–".to_owned(), milliseconds)}</td>
            <td class="number">{milliseconds(check.total_ms)}</td>
            <td class="text" dir="auto">
                {check.detail}
            </td>
        </tr>
    }
}
