//! A workflow as an endpoint: how to ask it, and how long its answers took.

use domain::api::workflows::AnswerTimes;
use leptos::prelude::*;
use serde_json::{Value, json};

use crate::pages::authoring::draft::Draft;
use domain::document;
use domain::workflow::Workflow;
use ui::api_client;
use ui::components::{AsyncView, Command};
use ui::format;

#[component]
pub fn Answers(draft: Draft) -> impl IntoView {
    let place = draft.place();
    let (project, name) = (place.project.clone(), place.id.name.clone());
    let command = command(&project, &name, &sample(draft));
    let load = move || {
        let (project, name) = (project.clone(), name.clone());
        async move { api_client::workflows::answer_times(&project, &name).await }
    };
    view! {
        <details class="panel">
            <summary>"Use as an endpoint"</summary>
            <p>"One input in, its output streamed out as it is known, before anything that is played for runs."</p>
            <Command text=command label="Ask the workflow" />
            <AsyncView what="the times of answers" load let:times>
                <Times times />
            </AsyncView>
        </details>
    }
}

#[component]
fn Times(times: AnswerTimes) -> impl IntoView {
    if times.ended == 0 && times.in_progress == 0 {
        return view! { <p class="muted">"No answers in the last 24 hours."</p> }.into_any();
    }
    let percentile = |label: &'static str, seconds: Option<f64>| {
        let seconds = seconds?;
        Some(view! {
            <div>
                <dt>{label}</dt>
                <dd>{format::seconds(seconds)}</dd>
            </div>
        })
    };
    view! {
        <dl class="strip">
            <div>
                <dt>"Answers in 24 hours"</dt>
                <dd>{format::count(times.ended)}</dd>
            </div>
            <div>
                <dt>"Accepted"</dt>
                <dd>{format::count(times.accepted)}</dd>
            </div>
            <div>
                <dt>"In progress"</dt>
                <dd>{format::count(times.in_progress)}</dd>
            </div>
            {percentile("P50", times.p50_seconds)}
            {percentile("P90", times.p90_seconds)}
            {percentile("P99", times.p99_seconds)}
        </dl>
    }
    .into_any()
}

/// The input of the first sample.
fn sample(draft: Draft) -> Value {
    let file = draft.place().id.path(None);
    let text = draft.saved.with_untracked(|document| document.files.get(&file).cloned()).unwrap_or_default();
    let samples = document::parse::<Workflow>(&file, &text).map(|workflow| workflow.samples).unwrap_or_default();
    samples.into_iter().next().map_or_else(|| json!({}), |sample| Value::Object(sample.input))
}

/// For a shell. A quote in the input ends the quoted text, stands escaped, and begins it again.
fn command(project: &str, name: &str, input: &Value) -> String {
    let body = json!({"input": input}).to_string().replace('\'', r"'\''");
    format!(
        "curl -N -H \"Authorization: Bearer $TOKEN\" -H 'Accept: text/event-stream' -H 'Content-Type: application/json' \\\n  \
         {}/api/v1/projects/{project}/workflows/{name}/answers \\\n  -d '{body}'",
        window().location().origin().unwrap_or_default()
    )
}
