//! A conversation as chat.

mod parts;
mod tool_call;

use std::ops::Range;

use domain::role::Role;
use leptos::prelude::*;

use crate::components::LongText;
use crate::components::long_text::beginning;
use crate::transcript::{self, Call, Caller, Turn, TurnContent};
use crate::{format, labels};
use parts::{Parts, Piece};
use tool_call::ToolCall;

/// Letters of a reason that stand in the line that is unfolded.
const REASON: usize = 300;

/// What a page adds to a conversation as chat.
#[derive(Clone, Copy, Default)]
pub struct TranscriptExtras {
    /// The event of the turn that is looked at.
    pub chosen: Signal<Option<u32>>,
    /// What stands below a turn; its events tell which one.
    pub below: Option<Callback<TurnRef, AnyView>>,
}

/// Which turn it is.
#[derive(Debug, Clone, Copy)]
pub struct TurnRef {
    /// The event that it shows: another one once a call is answered.
    pub seq: Signal<u32>,
    /// The event in which an agent spoke, if this turn is the first that shows it.
    pub spoke: Option<u32>,
    /// The event in whose place the conversation can go on differently, and whose turn it is, if this turn is the first that
    /// shows it.
    pub parts: Option<(u32, Role)>,
}

/// The element that shows an event, as addresses name it.
pub fn anchor(seq: u32) -> String {
    format!("turn-{seq}")
}

#[component]
pub fn Transcript(turns: Signal<Vec<Turn>>, #[prop(optional)] beside: TranscriptExtras) -> impl IntoView {
    let none = Memo::new(move |_| turns.read().is_empty());
    let empty = move || none.get().then(|| view! { <p class="muted">"No messages yet."</p> });
    view! {
        <section class="transcript" aria-labelledby="transcript">
            <h2 id="transcript">"Transcript"</h2>
            {empty}
            <Turns turns beside />
        </section>
    }
}

/// Turns of the conversation, or of a sub-agent's branch within it: of many a part, and the turn that is looked at. When
/// others come, or calls are answered, those that are there stay, with whatever somebody is writing below them.
#[component]
pub fn Turns(turns: Signal<Vec<Turn>>, beside: TranscriptExtras) -> AnyView {
    let count = Memo::new(move |_| turns.read().len());
    let looked_at = Memo::new(move |_| transcript::position(&turns.read(), beside.chosen.get()?));
    let parts = parts::shown(count, looked_at);
    view! {
        <For each=move || parts.read().pieces(count.get()) key=|piece| *piece let:piece>
            {match piece {
                Piece::Shown(part) => view! { <TranscriptPart part count turns beside /> }.into_any(),
                Piece::Gap(nth) => view! { <Gap nth count parts /> }.into_any(),
            }}
        </For>
    }
    .into_any()
}

#[component]
fn TranscriptPart(
    part: usize,
    count: Memo<usize>,
    turns: Signal<Vec<Turn>>,
    beside: TranscriptExtras,
) -> impl IntoView {
    let shown = move |at: usize| {
        let now = Memo::new(move |_| turns.read().get(at).cloned());
        let begun = Memo::new(move |_| now.read().as_ref().map(Turn::begun));
        move || {
            let begun = begun.get()?;
            let before = at.checked_sub(1).and_then(|at| turns.read_untracked().get(at).map(|turn| turn.of));
            let first = before != Some(begun.of);
            Some(view! { <OneTurn begun now beside first /> })
        }
    };
    view! {
        <For each=move || parts::turns_of(part, count.get()) key=|at| *at let:at>
            {shown(at)}
        </For>
    }
}

/// Turns that are not on the page, and the ways to them.
#[component]
fn Gap(nth: usize, count: Memo<usize>, parts: RwSignal<Parts>) -> impl IntoView {
    let gap = Memo::new(move |_| parts.read().gaps(count.get()).get(nth).cloned());
    let number = |n: usize| format::count(i64::try_from(n).unwrap_or(i64::MAX));
    let says = move || {
        let gap = gap.get()?;
        Some(format!("Turns {} to {} are not on the page.", number(gap.start + 1), number(gap.end)))
    };
    let way = move |says: &'static str, at: fn(Range<usize>) -> usize| {
        let show = move |_| {
            if let Some(gap) = gap.get_untracked() {
                parts.update(|parts| parts.show(at(gap)));
            }
        };
        view! {
            <button type="button" class="more" on:click=show>
                {says}
            </button>
        }
    };
    let long = Memo::new(move |_| gap.read().as_ref().is_some_and(|gap| !parts::in_same_part(gap.start, gap.end - 1)));
    view! {
        <p class="inline">
            <span class="muted">{says}</span>
            {way("More", |gap| gap.start)}
            <Show when=move || long.get()>{way("To the end", |gap| gap.end - 1)}</Show>
        </p>
    }
}

#[component]
fn OneTurn(
    begun: Turn,
    /// The same, with what has come of it.
    now: Memo<Option<Turn>>,
    beside: TranscriptExtras,
    /// Whether it is the first that shows what one agent said and called at once.
    first: bool,
) -> impl IntoView {
    let Turn { seq, of, whose, what } = begun;
    let seq = Memo::new(move |_| now.read().as_ref().map_or(seq, |now| now.seq));
    let agents = matches!(&what, TurnContent::Agent { .. } | TurnContent::Call(Call { by: Caller::Agent, .. }));
    let parts = whose.filter(|_| first).map(|whose| (of, whose));
    let place = TurnRef { seq: seq.into(), spoke: (agents && first).then_some(of), parts };
    let class = match &what {
        TurnContent::User { .. } => "turn user",
        TurnContent::Agent { .. } => "turn agent",
        TurnContent::Call(_) => "turn calls",
        TurnContent::Refused { .. } | TurnContent::Ending(_) => "turn aside",
    };
    let chosen = Memo::new(move |_| beside.chosen.get() == Some(seq.get()));
    // Calls that were never answered share the event in which they were made; an address means the first of them.
    let id = move || Some(seq.get()).filter(|seq| first || *seq != of).map(anchor);
    let shown = match what {
        TurnContent::User { content } => view! { <Bubble class="bubble user" speaker="User" content /> }.into_any(),
        TurnContent::Agent { content, reasoning } => {
            view! { <Bubble class="bubble agent" speaker="Agent" content reasoning /> }.into_any()
        }
        TurnContent::Call(begun) => {
            let call = Memo::new(move |_| match &*now.read() {
                Some(Turn { what: TurnContent::Call(call), .. }) => call.clone(),
                _ => begun.clone(),
            });
            view! { <ToolCall call beside /> }.into_any()
        }
        TurnContent::Refused { role, reply, reason } => view! { <RefusedReply role reply reason /> }.into_any(),
        TurnContent::Ending(ending) => view! { <p class="ending">{labels::ending(&ending)}</p> }.into_any(),
    };
    view! {
        // Whoever walks by keys is put here.
        <div
            class=class
            id=id
            class:chosen=chosen
            aria-current=move || chosen.get().then_some("true")
            tabindex=move || chosen.get().then_some("-1")
        >
            {shown}
            {beside.below.map(|below| below.run(place))}
        </div>
    }
}

#[component]
fn Bubble(
    class: &'static str,
    speaker: &'static str,
    content: String,
    #[prop(optional_no_strip)] reasoning: Option<String>,
) -> impl IntoView {
    let reasoning = reasoning.map(|text| {
        view! {
            <details>
                <summary>"Reasoning"</summary>
                <LongText text muted=true />
            </details>
        }
    });
    let said = (!content.is_empty()).then(|| view! { <LongText text=content /> });
    view! {
        <article class=class>
            <h3>{speaker}</h3>
            {reasoning}
            {said}
        </article>
    }
}

#[component]
fn RefusedReply(role: Role, reply: String, reason: String) -> impl IntoView {
    let short = beginning(&reason, REASON);
    let whole = (short != reason).then(|| view! { <LongText text=reason muted=true /> });
    view! {
        <details class="refused">
            <summary>
                {format!("Refused reply of the {}: ", labels::words(role.as_str()))} <bdi class="text">{short}</bdi>
            </summary>
            {whole}
            <LongText text=reply />
        </details>
    }
}
