//! What the rows of a workflow's run became.

use std::sync::Arc;

use domain::api::workflows::OutputRow;
use leptos::prelude::*;
use serde_json::{Value, json};

use super::LiveRun;
use super::yields::Bar;
use ui::components::{Badge, Empty, JsonTree, PagedList};
use ui::labels::Tone;
use ui::session::Project;
use ui::{address, api_client, labels};

/// From what was planned to what was accepted, and how the others ended.
#[component]
pub fn Endings(followed: LiveRun) -> impl IntoView {
    let run = followed.run;
    let planned = Signal::derive(move || run.read().planned);
    let finished = Signal::derive(move || run.read().finished);
    let accepted = Signal::derive(move || run.read().accepted);
    let names = Memo::new(move |_| run.read().failures.keys().cloned().collect::<Vec<_>>());
    let bar = move |ending: String| {
        let name = labels::words(&ending);
        let n = Signal::derive(move || run.read().failures.get(&ending).copied().unwrap_or(0));
        view! { <Bar name n all=planned /> }
    };
    view! {
        <section class="panel" aria-labelledby="funnel">
            <h2 id="funnel">"Yield"</h2>
            <dl class="bars">
                <Bar name="Planned" n=planned all=planned />
                <Bar name="Ended" n=finished all=planned />
                <Bar name="Accepted" n=accepted all=planned good=true />
            </dl>
        </section>
        <section class="panel" aria-labelledby="endings">
            <h2 id="endings">"Not accepted, by ending"</h2>
            {move || names.read().is_empty().then(|| view! { <p>"None."</p> })}
            <dl class="bars">
                <For each=move || names.get() key=Clone::clone let:name>
                    {bar(name)}
                </For>
            </dl>
        </section>
    }
}

#[component]
pub fn OutputRows(followed: LiveRun) -> impl IntoView {
    // What has ended meanwhile is shown when the list is opened again: rows do not move under the reader.
    let (project, run) = (Project::here(), StoredValue::new(followed.id()));
    let load = move |from| {
        let (id, planned) = (followed.id(), followed.run.read_untracked().planned);
        async move { api_client::workflows::rows(&id, planned, from).await }
    };
    view! {
        <PagedList what="rows" load empty=|| view! { <Empty title="No row has ended yet."><p>"Rows appear here when they end."</p></Empty> } let:rows>
            <ol class="output-rows">
                <For each=move || rows.get() key=|row: &OutputRow| row.position let:row>
                    <Row href=address::row(&project.name(), &run.read_value(), row.position) row />
                </For>
            </ol>
        </PagedList>
    }
}

#[component]
fn Row(row: OutputRow, href: String) -> impl IntoView {
    let OutputRow { position, ended, accepted, reason, input, output, metrics, .. } = row;
    let tone = if accepted { Tone::Good } else { Tone::Neutral };
    let open = RwSignal::new(false);
    let title = input.values().find_map(Value::as_str).map(shortened).unwrap_or_default();
    let figures: Vec<String> = metrics.iter().map(|(name, value)| format!("{} {value}", labels::words(name))).collect();
    let document = StoredValue::new(Arc::new(json!({"input": input, "output": output})));
    view! {
        <li>
            <details on:toggle=move |_| open.set(true)>
                <summary>
                    <span class="number">{position + 1}</span>
                    " "
                    <Badge tone text=labels::words(&ended) />
                    " "
                    <span class="text">{title}</span>
                    " "
                    <span class="muted">{figures.join(", ")}</span>
                </summary>
                <p>
                    <a href=href>{format!("Timeline of row {}", position + 1)}</a>
                </p>
                {(!reason.is_empty()).then(|| view! { <p class="refusal">{reason.clone()}</p> })}
                {move || {
                    let document = document.get_value();
                    let shown = &["/input", "/output", "/metrics"];
                    open.get().then(|| view! { <JsonTree label="Input and output" document open=shown /> })
                }}
            </details>
        </li>
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
