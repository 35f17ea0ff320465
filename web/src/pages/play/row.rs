//! One row of a workflow's run: what it became, and what was asked for it and when.

mod timeline;

use std::sync::Arc;

use domain::api::workflows::{OutputRow, RowTrace};
use leptos::prelude::*;
use serde_json::json;

use timeline::Timeline;
use ui::components::{AsyncView, Badge, Crumbs, JsonTree, set_title};
use ui::labels::Tone;
use ui::session::Project;
use ui::{address, api_client, format, labels};

#[component]
pub fn RowPage() -> impl IntoView {
    set_title("Row");
    let (run, position, project) = (address::use_id("run"), address::use_id("position"), Project::here());
    let load = move || {
        let (run, position) = (run.get(), position.get());
        async move { api_client::workflows::row(&run, &position).await }
    };
    let above = move || {
        let name = project.name();
        vec![
            ("Runs".to_owned(), address::project(&name, "/runs")),
            ("Rows".to_owned(), format!("{}?tab=rows", address::run(&name, &run.get()))),
        ]
    };
    let number = move || position.get().parse().map_or_else(|_| position.get(), |at: i64| format::count(at + 1));
    view! {
        {move || view! { <Crumbs above=above() /> }}
        <h1>{move || format!("Row {}", number())}</h1>
        <AsyncView what="the row" load let:trace>
            <Row trace />
        </AsyncView>
    }
}

#[component]
fn Row(trace: RowTrace) -> impl IntoView {
    let RowTrace { row, attempt, requests, more } = trace;
    let outcome = match row {
        Some(row) => view! { <Outcome row /> }.into_any(),
        None => view! { <p>"The row is being played. Load the page again to see how it goes on."</p> }.into_any(),
    };
    view! {
        {outcome}
        {(attempt > 1).then(|| view! { <p class="muted">{format!("Attempt {attempt}.")}</p> })}
        <Timeline requests more />
    }
}

#[component]
fn Outcome(row: OutputRow) -> impl IntoView {
    let OutputRow { ended, accepted, reason, input, output, metrics, .. } = row;
    let tone = if accepted { Tone::Good } else { Tone::Neutral };
    let document = Arc::new(json!({"input": input, "output": output, "metrics": metrics}));
    view! {
        <p>
            <Badge tone text=labels::words(&ended) />
        </p>
        {(!reason.is_empty()).then(|| view! { <p class="refusal">{reason}</p> })}
        <section class="panel" aria-labelledby="became">
            <h2 id="became">"Input and output"</h2>
            <JsonTree label="Input and output" document open=&["/input", "/output", "/metrics"] />
        </section>
    }
}
