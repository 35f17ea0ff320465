//! A conversation as chat.

use domain::event::Event;
use domain::role::Role;
use leptos::prelude::*;

use crate::components::tool_call::ToolCall;
use crate::labels;
use crate::transcript::{self, Turn};

#[component]
pub fn Transcript(events: Vec<Event>) -> impl IntoView {
    let turns = transcript::turns(events);
    let empty = turns.is_empty().then(|| view! { <p class="muted">"Nothing has been said yet."</p> });
    view! {
        <section class="transcript" aria-labelledby="transcript">
            <h2 id="transcript">"Transcript"</h2>
            {empty}
            <Turns turns />
        </section>
    }
}

/// Turns of the conversation, or of a sub-agent's branch within it.
#[component]
pub fn Turns(turns: Vec<Turn>) -> AnyView {
    turns.into_iter().map(|turn| view! { <OneTurn turn /> }).collect_view().into_any()
}

#[component]
fn OneTurn(turn: Turn) -> impl IntoView {
    match turn {
        Turn::User { content } => view! { <Bubble class="bubble user" speaker="User" content /> }.into_any(),
        Turn::Agent { content, reasoning } => {
            view! { <Bubble class="bubble agent" speaker="Agent" content reasoning /> }.into_any()
        }
        Turn::Call(call) => view! { <ToolCall call /> }.into_any(),
        Turn::Refused { role, reply, reason } => view! { <Refused role reply reason /> }.into_any(),
        Turn::Ending(ending) => view! { <p class="ending">{labels::ending(&ending)}</p> }.into_any(),
    }
}

#[component]
fn Bubble(
    class: &'static str,
    speaker: &'static str,
    content: String,
    #[prop(optional_no_strip)] reasoning: Option<String>,
) -> impl IntoView {
    let reasoning = reasoning.map(|reasoning| {
        view! {
            <details>
                <summary>"Reasoning"</summary>
                <p class="text muted" dir="auto">
                    {reasoning}
                </p>
            </details>
        }
    });
    let said = (!content.is_empty()).then(|| {
        view! {
            <p class="text" dir="auto">
                {content}
            </p>
        }
    });
    view! {
        <article class=class>
            <h3>{speaker}</h3>
            {reasoning}
            {said}
        </article>
    }
}

#[component]
fn Refused(role: Role, reply: String, reason: String) -> impl IntoView {
    view! {
        <details class="refused">
            <summary>
                {format!("Refused a reply of the {}: ", labels::words(role.as_str()))} <bdi class="text">{reason}</bdi>
            </summary>
            <p class="text" dir="auto">
                {reply}
            </p>
        </details>
    }
}
