//! Whether the endpoints of a model answer as the platform needs it: tried before a run spends money.

use domain::api::probe::{
    Feature, ModelProbe, ProbeCheck, ProbeFeature, ProbeKind, ProbeOutcome, ProbeUsage, ReplicaProbe,
};
use leptos::prelude::*;
use leptos::task::spawn_local;

use ui::api_client;
use ui::components::{Badge, Command, PendingRequest, Working};
use ui::format;
use ui::labels::Tone;
use ui::session::Session;

#[component]
pub fn Probe(name: String) -> impl IntoView {
    let (found, asked) = (RwSignal::new(None::<ModelProbe>), PendingRequest::new());
    let left = RwSignal::new(false);
    let command = format!("groundstate models check {name}");
    let name = StoredValue::new(name);
    spawn_local(async move {
        // What cannot be read is as if it had never been asked: the button is there.
        if let Ok(Some(known)) = api_client::models::probed(&name.get_value()).await {
            found.try_update(|found| found.get_or_insert(known).replicas.len());
        }
    });
    let ask = move |_| {
        let name = name.get_value();
        left.set(false);
        let probe = |signal| async move { api_client::models::probe(&name, &signal).await };
        asked.ask(probe, move |answer| found.set(Some(answer)));
    };
    let cancel = move || {
        asked.cancel();
        left.set(true);
    };
    view! {
        <div class="probe">
            {Session::here().is_administrator().then(|| view! {
                <p class="actions">
                    <button type="button" aria-disabled=move || asked.busy().to_string() on:click=ask>
                        "Probe"
                    </button>
                    <span class="muted hint">
                        "Asks each endpoint a dozen small questions: for tool calls in every form, for JSON, and what \
                         it does when a reply or a prompt is too long."
                    </span>
                </p>
            })}
            <Show when=move || asked.busy()>
                <Working what="Asking its endpoints" doing=Signal::stored(None) cancel />
            </Show>
            <Show when=move || left.get()>
                <p class="muted" role="status">
                    "The probe was cancelled; nothing was stored."
                </p>
            </Show>
            <div aria-live="polite">
                {move || found.get().map(|found| {
                    let at = format::time(found.probed_at);
                    let usage = found.usage().map(usage_summary);
                    view! {
                        <p class="muted">"Probed " {at} {usage}</p>
                        {found.replicas.into_iter().map(|one| view! { <ReplicaResults one /> }).collect_view()}
                    }
                })}
            </div>
            <details>
                <summary>"As a command"</summary>
                <Command label="Command that probes this model" text=Signal::stored(command) />
            </details>
        </div>
    }
}

fn usage_summary(usage: ProbeUsage) -> String {
    let count = |count: u64| format::count(i64::try_from(count).unwrap_or(i64::MAX));
    let (calls, read) = (count(usage.calls.into()), count(usage.prompt_tokens));
    let cost = if usage.cost > 0.0 { format!(", cost {}", format::money(usage.cost)) } else { String::new() };
    format!(": {calls} calls, {read} tokens read, {} written{cost}", count(usage.completion_tokens))
}

#[component]
fn ReplicaResults(one: ReplicaProbe) -> impl IntoView {
    let label = format!("What {} answered", one.url);
    let context = one.context_length.and_then(|length| i64::try_from(length).ok());
    view! {
        <div class="scroll-x" tabindex="0" role="region" aria-label=label>
            <table class="grid">
                <caption>
                    <code>{one.url}</code>
                    {context.map(|length| format!(", a context of {} tokens", format::count(length)))}
                </caption>
                <thead>
                    <tr>
                        <th scope="col">"Check"</th>
                        <th scope="col">"Result"</th>
                        <th scope="col" class="number">
                            "First byte"
                        </th>
                        <th scope="col" class="number">
                            "Complete"
                        </th>
                        <th scope="col">"Reply"</th>
                    </tr>
                </thead>
                <tbody>{one.checks.into_iter().map(|check| view! { <Row check /> }).collect_view()}</tbody>
            </table>
        </div>
        {(!one.features.is_empty())
            .then(|| {
                view! {
                    <h3>"What the model supports"</h3>
                    <ul class="features">{one.features.into_iter().map(used).collect_view()}</ul>
                }
            })}
    }
}

fn used(feature: ProbeFeature) -> impl IntoView {
    let (tone, says) = if feature.used { (Tone::Good, "used") } else { (Tone::Neutral, "not used") };
    view! {
        <li>
            <Badge tone text=says />
            " "
            {feature_name(feature.feature)}
            ": "
            <span class="text">{feature.detail}</span>
        </li>
    }
}

const fn feature_name(feature: Feature) -> &'static str {
    match feature {
        Feature::FunctionCalling => "Function calling",
        Feature::ParallelToolCalls => "Parallel tool calls",
        Feature::Pipelining => "Pipelining",
        Feature::JsonSchema => "JSON schema",
        Feature::Reasoning => "Reasoning",
        Feature::Seed => "Seed",
        Feature::TokenIds => "Token ids",
    }
}

const fn kind_name(kind: ProbeKind) -> &'static str {
    match kind {
        ProbeKind::Reply => "Reply",
        ProbeKind::Streaming => "Streaming",
        ProbeKind::ToolCall => "A tool call",
        ProbeKind::ParallelToolCalls => "Parallel tool calls",
        ProbeKind::NestedArguments => "Nested arguments",
        ProbeKind::UnicodeArguments => "Unicode in arguments",
        ProbeKind::BracesInArguments => "Braces in arguments",
        ProbeKind::ToolResult => "The result of a tool",
        ProbeKind::JsonSchema => "JSON that fits a schema",
        ProbeKind::Reasoning => "Reasoning",
        ProbeKind::StopReason => "A reply that is cut off",
        ProbeKind::ContextOverflow => "A prompt that is too long",
        ProbeKind::Seed => "The same seed twice",
        ProbeKind::TokenIds => "Token ids and log-probabilities",
    }
}

#[component]
fn Row(check: ProbeCheck) -> impl IntoView {
    let (tone, says) = match check.outcome {
        ProbeOutcome::Passed => (Tone::Good, "ok"),
        ProbeOutcome::Warning => (Tone::Notable, "warning"),
        ProbeOutcome::Failed => (Tone::Bad, "failed"),
        ProbeOutcome::Skipped => (Tone::Neutral, "skipped"),
    };
    let milliseconds = |ms: u64| format!("{} ms", format::count(i64::try_from(ms).unwrap_or(i64::MAX)));
    view! {
        <tr>
            <th scope="row">{kind_name(check.kind)}</th>
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
