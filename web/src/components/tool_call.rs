//! A tool call: what the agent asked, what came back, what it changed in the world.

use domain::patch::PatchOp;
use leptos::prelude::*;

use crate::components::transcript::{Beside, Turns};
use crate::components::{Badge, FirstRows, LongText, MoreRows};
use crate::labels::{self, Tone};
use crate::transcript::{Answered, Call, Caller};

#[component]
pub fn ToolCall(call: Call, beside: Beside) -> impl IntoView {
    let (tone, state) =
        call.answered.as_ref().map_or((Tone::Neutral, "no answer yet"), |answered| labels::answer(answered.answer));
    let kind = match (call.by, &call.branch) {
        (Caller::User, _) => "The user calls ",
        (Caller::Agent, Some(_)) => "Sub-agent ",
        (Caller::Agent, None) => "Tool call ",
    };
    let fault = call.answered.as_ref().and_then(|answered| answered.fault);
    let fault = fault.map(|fault| view! { <Badge tone=Tone::Notable text=labels::fault(fault) /> });
    let branch = call.branch.map(|turns| {
        view! {
            <details class="branch" open>
                <summary>"What the sub-agent did"</summary>
                <Turns turns=Signal::stored(turns) beside />
            </details>
        }
    });
    view! {
        <article class="call">
            <header>
                <h3>
                    <span class="muted">{kind}</span>
                    <code>{call.tool}</code>
                </h3>
                {fault}
                <Badge tone text=state />
            </header>
            <Block name="Arguments" text=call.arguments />
            {branch}
            {call.answered.map(|answered| view! { <Answer answered /> })}
        </article>
    }
}

#[component]
fn Answer(answered: Answered) -> impl IntoView {
    let (first, all) = (FirstRows::new(), answered.patch.len());
    let change = (all > 0).then(|| {
        view! {
            <h4>"World change"</h4>
            <ul class="patch">{first.rows(answered.patch, |op| view! { <Change op /> })}</ul>
            <MoreRows first all=Signal::stored(all) />
        }
    });
    let note = answered.note.map(|note| view! { <p class="muted text">{note}</p> });
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
            <code>{op.path().to_owned()}</code>
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
