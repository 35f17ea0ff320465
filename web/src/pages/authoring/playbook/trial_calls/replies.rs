//! The results of trial calls: what the agent reads, what changed, and where the values come from.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use domain::api::trials::{Trace, TrialCall, TrialCalls, TrialReply, TrialReport, TrialResult};
use domain::patch::PatchOp;
use leptos::prelude::*;
use serde_json::Value;
use wasm_bindgen::JsCast;

use super::values::Values;
use crate::pages::authoring::draft::Draft;
use ui::api_client::{self, AbortGuard};
use ui::components::{Badge, FirstRows, JsonTree, LongText, Mark, MoreRows, OriginOf};
use ui::labels::Tone;

#[component]
pub fn Replies(
    /// The calls, and what they were made on.
    wanted: TrialCalls,
    tried: TrialReport,
    /// The value of the world that is asked about.
    picked: Memo<Option<String>>,
    pick: SignalSetter<Option<String>>,
) -> impl IntoView {
    let TrialReport { replies, note, world, .. } = tried;
    let seqs = StoredValue::new(replies.iter().map(|reply| reply.seq).collect::<Vec<_>>());
    // What a sub-agent wrote, it wrote before its answer.
    let number = move |seq: u32| seqs.with_value(|seqs| seqs.iter().take_while(|known| **known < seq).count()) + 1;
    let place = Callback::new(move |seq| format!("call {}", number(seq)));
    let changed = replies.last().into_iter().flat_map(|reply| &reply.patch);
    let marks: HashMap<_, _> = changed.map(|op| (op.path().to_owned(), Mark::Changed)).collect();
    let pairs = (1..).zip(wanted.calls.clone().into_iter().zip(replies));
    let replies = pairs.map(|(n, (call, reply))| view! { <Reply n call reply place /> }).collect_view();
    let at = Draft::here().place();
    let ask = move |pointer: String| {
        let trace = Some(Trace { pointer, seq: None });
        let (at, wanted) = (at.clone(), TrialCalls { trace, ..wanted.clone() });
        async move {
            let guard = AbortGuard::new();
            api_client::trials::calls(&guard.signal(), &at, &wanted).await.map(|tried| tried.traced)
        }
    };
    view! {
        {note.map(|note| view! { <p class="reminder text">{note}</p> })}
        {replies}
        <h2>"The world after this call"</h2>
        <p class="muted hint">"Choose a value to see which call wrote it."</p>
        <OriginOf
            picked
            ask
            gone="nothing is there."
            place
            go=Callback::new(move |seq| go(number(seq)))
            show="Show the call"
        />
        <JsonTree
            label="The world after the calls"
            document=Signal::stored(Arc::new(world))
            marks=Signal::stored(marks)
            picked
            pick=Callback::new(move |pointer| pick.set(Some(pointer)))
        />
    }
}

fn id(n: usize) -> String {
    format!("call-{n}")
}

/// Leads the reader to a call.
fn go(n: usize) {
    let found = document().get_element_by_id(&id(n));
    if let Some(article) = found.and_then(|found| found.dyn_into::<leptos::web_sys::HtmlElement>().ok()) {
        // It fails only for an element that the page no longer has.
        let _ = article.focus();
    }
}

#[component]
fn Reply(
    /// From 1.
    n: usize,
    call: TrialCall,
    reply: TrialReply,
    place: Callback<u32, String>,
) -> impl IntoView {
    let TrialReply { result, content, why, printed, patch, before, values, written, .. } = reply;
    let printed = (!printed.is_empty()).then(|| printed.join("\n"));
    let (tone, says) = match result {
        TrialResult::Answered => (Tone::Good, "answered"),
        TrialResult::Ended => (Tone::Neutral, "ends the conversation"),
        TrialResult::Refused => (Tone::Notable, "refused: the agent reads an error"),
        TrialResult::Broken => (Tone::Bad, "the playbook has an error"),
        TrialResult::Asks => (Tone::Neutral, "a model answers; this is its prompt"),
    };
    let arguments = Value::Object(call.arguments).to_string();
    let (first, operations) = (FirstRows::new(), patch.len());
    view! {
        <article class="panel" id=id(n) tabindex="-1">
            <h2>
                <span class="muted">{format!("Call {n}: ")}</span>
                <code>{call.tool}</code>
                " "
                <Badge tone text=says />
            </h2>
            <LongText text=arguments muted=true />
            <LongText text=content name="What the agent reads" />
            {why.map(|why| view! { <LongText text=why /> })}
            {printed.map(|printed| view! { <LongText text=printed name="What it printed" /> })}
            <Values heading="Where did these values come from?" values call=place />
            <ul>{first.rows(patch, move |op| view! { <Operation op before=before.clone() /> })}</ul>
            <MoreRows first all=Signal::stored(operations) />
            <Values heading="Where did the written values come from?" values=written call=place />
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
