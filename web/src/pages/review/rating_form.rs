//! The form in which somebody rates a conversation: by keys alone, if they like.

use domain::api::{ConversationRatings, HumanRating};
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Map, Value, json};
use wasm_bindgen::JsCast;

use crate::components::{Labelled, Problems, Refused, Send};
use crate::{api_client, labels};

const BEST: u8 = 10;

/// `done` is given what the server answers, once it has kept the rating.
#[component]
pub fn RatingForm(
    conversation: String,
    /// What may be rated.
    criteria: Vec<String>,
    /// What they said before.
    own: Option<HumanRating>,
    done: Callback<ConversationRatings>,
    /// What the button says.
    send: &'static str,
) -> impl IntoView {
    let before = |criterion: &String| own.as_ref().and_then(|own| own.scores.get(criterion).copied());
    let scores: Vec<(String, RwSignal<Option<u8>>)> =
        criteria.into_iter().map(|criterion| (criterion.clone(), RwSignal::new(before(&criterion)))).collect();
    let goal = RwSignal::new(own.as_ref().and_then(|own| own.goal_achieved));
    let comment = RwSignal::new(own.as_ref().and_then(|own| own.comment.clone()).unwrap_or_default());
    let (busy, problems) = (RwSignal::new(false), Problems::default());
    let kept = StoredValue::new(scores.clone());
    let conversation = StoredValue::new(conversation);
    let save = move || {
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        problems.clear();
        let body = kept.with_value(|scores| body(scores, goal.get_untracked(), &comment.get_untracked()));
        spawn_local(async move {
            let answer = api_client::ratings::rate(&conversation.get_value(), &body).await;
            busy.try_set(false);
            match answer {
                Ok(seen) => drop(done.try_run(seen)),
                Err(error) => problems.set(error),
            }
        });
    };
    let listening = window_event_listener(leptos::ev::keydown, move |event| {
        if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) && !event.default_prevented() {
            event.prevent_default();
            save();
        }
    });
    on_cleanup(move || listening.remove());
    view! {
        <form
            class="stack rate"
            aria-label="Rating"
            on:submit=move |event| {
                event.prevent_default();
                save();
            }
        >
            <Refused why=problems />
            {scores.into_iter().map(|(name, score)| view! { <Criterion name score /> }).collect_view()}
            <Goal goal />
            <Labelled label="Comment" wrong=problems.at("/comment")>
                <textarea rows="3" dir="auto" bind:value=comment></textarea>
            </Labelled>
            <p class="muted hint">
                "In a row of sliders, type a number from 0 to 10; Enter goes to the next, Delete clears. Ctrl+Enter saves."
            </p>
            <Send label=send busy />
        </form>
    }
}

#[component]
fn Criterion(name: String, score: RwSignal<Option<u8>>) -> impl IntoView {
    let label = labels::words(&name);
    let press = move |event: KeyboardEvent| {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        match event.key().as_str() {
            "Enter" => next(&event),
            "Delete" | "Backspace" => score.set(None),
            key => match key.parse::<u8>() {
                Ok(digit) => score.update(|score| *score = Some(typed(*score, digit))),
                Err(_) => return,
            },
        }
        event.prevent_default();
    };
    let text = move || score.get().map_or_else(|| "–".to_owned(), |score| score.to_string());
    view! {
        <label class="criterion" class:unset=move || score.get().is_none()>
            <span class="name">{label}</span>
            <input
                type="range"
                min="0"
                max=BEST
                step="1"
                prop:value=move || score.get().unwrap_or(BEST / 2).to_string()
                aria-valuetext=move || score.get().map_or_else(|| "not rated".to_owned(), |score| format!("{score} of {BEST}"))
                on:input:target=move |event| score.set(event.target().value().parse().ok())
                on:keydown=press
            />
            <output>{text}</output>
        </label>
    }
}

/// What a digit makes of a score: 1 and 0 after each other are 10.
fn typed(score: Option<u8>, digit: u8) -> u8 {
    if score == Some(1) && digit == 0 { BEST } else { digit }
}

/// Puts the reader into the field after this one.
fn next(event: &KeyboardEvent) {
    let here = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlElement>().ok());
    let row = here.and_then(|here| here.closest("label").ok().flatten());
    let field = row
        .and_then(|row| row.next_element_sibling())
        .and_then(|row| row.query_selector("input, textarea").ok().flatten());
    if let Some(field) = field.and_then(|field| field.dyn_into::<web_sys::HtmlElement>().ok()) {
        // It fails only for an element that the page no longer has.
        let _ = field.focus();
    }
}

#[component]
fn Goal(goal: RwSignal<Option<bool>>) -> impl IntoView {
    let choice = move |(says, means): (&'static str, Option<bool>)| {
        view! {
            <label class="tick">
                <input
                    type="radio"
                    name="goal"
                    prop:checked=move || goal.get() == means
                    on:change=move |_| goal.set(means)
                />
                <span>{says}</span>
            </label>
        }
    };
    view! {
        <fieldset class="goal">
            <legend>"Goal achieved"</legend>
            {[("yes", Some(true)), ("no", Some(false)), ("not rated", None)].map(choice).collect_view()}
        </fieldset>
    }
}

/// As `PUT /conversations/{conversation}/ratings` wants it: what is not rated is left out.
fn body(scores: &[(String, RwSignal<Option<u8>>)], goal: Option<bool>, comment: &str) -> Value {
    let rated = scores.iter().filter_map(|(name, score)| Some((name.clone(), Value::from(score.get_untracked()?))));
    let mut body = json!({"scores": rated.collect::<Map<_, _>>()});
    if let Some(goal) = goal {
        body["goal_achieved"] = goal.into();
    }
    if !comment.trim().is_empty() {
        body["comment"] = comment.into();
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_is_typed_as_one_and_zero() {
        assert_eq!(typed(None, 7), 7);
        assert_eq!(typed(Some(7), 0), 0);
        assert_eq!(typed(Some(1), 0), 10);
        assert_eq!(typed(Some(10), 1), 1);
    }
}
