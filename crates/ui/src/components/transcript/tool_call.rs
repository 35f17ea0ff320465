//! A tool call: what the agent asked, what came back, what it changed in the world.

use domain::patch::PatchOp;
use leptos::prelude::*;

use crate::components::long_text::beginning;
use crate::components::transcript::{TranscriptExtras, Turns};
use crate::components::{Badge, FirstRows, LongText, MoreRows};
use crate::labels::{self, Tone};
use crate::transcript::{Call, CallAnswer, Caller};

/// Letters of a name or of a place that stand in a line: a model may write any.
const NAME: usize = 200;

/// While the conversation is played, its answer comes, and what a sub-agent does grows.
#[component]
pub fn ToolCall(call: Memo<Call>, beside: TranscriptExtras) -> impl IntoView {
    let Call { by, tool, arguments, .. } = call.get_untracked();
    let answered = Memo::new(move |_| call.read().answered.clone());
    let branches = Memo::new(move |_| call.read().branch.is_some());
    let turns = Memo::new(move |_| call.read().branch.clone().unwrap_or_default());
    let kind = move || match (by, branches.get()) {
        (Caller::User, _) => "The user calls ",
        (Caller::Agent, true) => "Sub-agent ",
        (Caller::Agent, false) => "Tool call ",
    };
    let branch = move || {
        view! {
            <details class="branch" open>
                <summary>"What the sub-agent did"</summary>
                <Turns turns=turns.into() beside />
            </details>
        }
    };
    view! {
        <article class="call">
            <header>
                <h3>
                    <span class="muted">{kind}</span>
                    <code>{beginning(&tool, NAME)}</code>
                </h3>
                {move || state(answered.read().as_ref())}
            </header>
            <Block name="Arguments" text=arguments />
            <Show when=move || branches.get()>{branch()}</Show>
            {move || answered.get().map(|answered| view! { <Answer answered /> })}
        </article>
    }
}

/// What became of the call, and what went wrong with it as planned.
fn state(answered: Option<&CallAnswer>) -> impl IntoView + use<> {
    let (tone, text) = answered.map_or((Tone::Neutral, "no answer yet"), |answered| labels::answer(answered.answer));
    let fault = answered.and_then(|answered| answered.fault);
    view! {
        {fault.map(|fault| view! { <Badge tone=Tone::Notable text=labels::fault(fault) /> })}
        <Badge tone text />
    }
}

#[component]
fn Answer(answered: CallAnswer) -> impl IntoView {
    let (first, all) = (FirstRows::new(), answered.patch.len());
    let change = (all > 0).then(|| {
        view! {
            <h4>"World change"</h4>
            <ul class="patch">{first.rows(answered.patch, |op| view! { <Change op /> })}</ul>
            <MoreRows first all=Signal::stored(all) />
        }
    });
    let note = answered.note.map(|text| view! { <LongText text muted=true /> });
    view! {
        <Block name="Answer" text=answered.content />
        {note}
        {change}
    }
}

#[component]
fn Change(op: PatchOp) -> impl IntoView {
    let verb = match op {
        PatchOp::Add { .. } => "add",
        PatchOp::Remove { .. } => "remove",
        PatchOp::Replace { .. } => "replace",
    };
    let value = op.value().map(|value| view! { <LongText text=format!("{value:#}") code=true /> });
    view! {
        <li>
            <span class="verb">{verb}</span>
            <code>{beginning(op.path(), NAME)}</code>
            {value}
        </li>
    }
}

/// Text of a machine, with its name; nothing if there is none. It scrolls by itself, so the keyboard must reach it.
#[component]
fn Block(name: &'static str, text: String) -> impl IntoView {
    (!text.is_empty()).then(|| {
        view! {
            <h4>{name}</h4>
            <LongText text name />
        }
    })
}
