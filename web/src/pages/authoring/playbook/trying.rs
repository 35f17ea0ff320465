//! Calls of a playbook's tools, as it is written now: what the agent would read, and what they change.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use domain::api::trials::{Tried, TriedReply, TriedResult, TryCall, TryCalls};
use domain::patch::PatchOp;
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use serde_json::{Map, Value};

use crate::action::act;
use crate::api_client;
use crate::components::{Badge, CodeEditor, JsonTree, Labelled, Language, Mark};
use crate::labels::Tone;
use crate::pages::authoring::document::{Draft, Known};

#[component]
pub fn TryPanel() -> impl IntoView {
    let (draft, known) = (Draft::here(), Known::here());
    let (calls, tried) = (RwSignal::new(Vec::<TryCall>::new()), RwSignal::new(None::<Tried>));
    let (tool, scenario) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let (arguments, wrong) = (RwSignal::new("{}".to_owned()), RwSignal::new(None::<String>));
    let busy = RwSignal::new(false);
    let names = Memo::new(move |_| {
        let playbook = known.playbook.get();
        playbook
            .map(|playbook| playbook.all_tools().map(|tool| tool.name.clone()).collect::<Vec<_>>())
            .unwrap_or_default()
    });
    let send = move |event: SubmitEvent| {
        event.prevent_default();
        let read = serde_json::from_str::<Map<String, Value>>(&arguments.read_untracked());
        wrong.set(read.as_ref().err().map(|error| format!("is no JSON object: {error}")));
        let (Ok(arguments), name) = (read, tool.get_untracked()) else { return };
        let name = if name.is_empty() { names.read_untracked().first().cloned().unwrap_or_default() } else { name };
        let mut all = calls.get_untracked();
        all.push(TryCall { tool: name, arguments });
        let scenario = Some(scenario.get_untracked().trim().to_owned()).filter(|name| !name.is_empty());
        let wanted = TryCalls { drafts: draft.files.get_untracked(), scenario, calls: all.clone() };
        let place = draft.place();
        act(busy, "", async move { api_client::trials::calls(&place, &wanted).await }, move |done| {
            calls.set(all);
            tried.set(Some(done));
        });
    };
    let over = move |_| {
        calls.set(Vec::new());
        tried.set(None);
    };
    let option = |name: String| view! { <option value=name.clone()>{name.clone()}</option> };
    view! {
        <p class="muted">
            "Calls are made one after the other on the same world, by the playbook as it is written now. Nothing is kept."
        </p>
        <div class="trying">
            <form class="panel" on:submit=send>
                <Labelled label="Tool">
                    <select bind:value=tool>{move || names.get().into_iter().map(option).collect_view()}</select>
                </Labelled>
                <Labelled label="Scenario" hint="On whose world; without one it is the base world.">
                    <input type="text" autocomplete="off" spellcheck="false" bind:value=scenario />
                </Labelled>
                <p class="field">
                    <span class="name">"Arguments"</span>
                </p>
                <CodeEditor text=arguments language=Language::Json label="Arguments" on_change=move |text: String| arguments.set(text) />
                {move || wrong.get().map(|text| view! { <p class="refusal" role="alert">{text}</p> })}
                <p class="badges">
                    <button type="submit" class="main" aria-disabled=move || busy.get().to_string()>
                        "Call"
                    </button>
                    <button type="button" on:click=over>
                        "Start over"
                    </button>
                </p>
            </form>
            <div aria-live="polite">
                {move || tried.get().map(|tried| view! { <Replies calls=calls.get_untracked() tried /> })}
            </div>
        </div>
    }
}

#[component]
fn Replies(calls: Vec<TryCall>, tried: Tried) -> impl IntoView {
    let Tried { replies, note, world } = tried;
    let changed = replies.last().into_iter().flat_map(|reply| &reply.patch);
    let marks: HashMap<_, _> = changed.map(|op| (op.path().to_owned(), Mark::Changed)).collect();
    let pairs: Vec<_> = calls.into_iter().zip(replies).collect();
    view! {
        {note.map(|note| view! { <p class="reminder text">{note}</p> })}
        {pairs.into_iter().map(|(call, reply)| view! { <Reply call reply /> }).collect_view()}
        <h2>"The world after it"</h2>
        <JsonTree label="The world after the calls" document=Signal::stored(Arc::new(world)) marks=Signal::stored(marks) />
    }
}

#[component]
fn Reply(call: TryCall, reply: TriedReply) -> impl IntoView {
    let TriedReply { result, content, why, patch, before } = reply;
    let (tone, says) = match result {
        TriedResult::Answered => (Tone::Good, "answered"),
        TriedResult::Ended => (Tone::Neutral, "ends the conversation"),
        TriedResult::Refused => (Tone::Notable, "refused: the agent reads an error"),
        TriedResult::Broken => (Tone::Bad, "the playbook is at fault"),
        TriedResult::Asks => (Tone::Neutral, "a model answers; this is what it would read"),
    };
    let arguments = Value::Object(call.arguments).to_string();
    view! {
        <article class="panel">
            <h2>
                <code>{call.tool}</code>
                " "
                <Badge tone text=says />
            </h2>
            <p class="muted text">{arguments}</p>
            <pre tabindex="0" dir="auto">
                {content}
            </pre>
            {why.map(|why| view! { <p class="text">{why}</p> })}
            <ul>{patch.into_iter().map(|op| view! { <Operation op before=before.clone() /> }).collect_view()}</ul>
        </article>
    }
}

#[component]
fn Operation(op: PatchOp, before: BTreeMap<String, Value>) -> impl IntoView {
    let was = before.get(op.path()).map(Value::to_string);
    let path = op.path().to_owned();
    let (tone, verb, is) = match op {
        PatchOp::Add { value, .. } => (Tone::Good, "adds", Some(value.to_string())),
        PatchOp::Replace { value, .. } => (Tone::Neutral, "sets", Some(value.to_string())),
        PatchOp::Remove { .. } => (Tone::Bad, "removes", None),
    };
    view! {
        <li class="text">
            <Badge tone text=verb />
            " "
            <code>{path}</code>
            " "
            {was.map(|was| view! { <del>{was}</del> " " })}
            {is.map(|is| view! { <ins>{is}</ins> })}
        </li>
    }
}
