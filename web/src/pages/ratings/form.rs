//! The form in which somebody rates a conversation: by keys alone, if they like.

use domain::api::{ConversationRatings, HumanRating, NewRating};
use domain::verdict::MAX_SCORE;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;

use super::draft_storage::{DraftStorage, RatingDraft};
use ui::components::{FormError, FormField, Problems, Send};
use ui::{api_client, labels};

/// Where a slider stands as long as nothing is given.
const UNSET: u8 = MAX_SCORE / 2;

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
    /// Whether there is anything that is not saved.
    #[prop(default = RwSignal::new(false))]
    unsaved: RwSignal<bool>,
) -> impl IntoView {
    let storage = DraftStorage::of(&conversation);
    let before = previous_rating(&criteria, own);
    let fields = Fields::of(&criteria, storage.load().unwrap_or_else(|| before.clone()));
    let again = before.clone();
    Effect::new(move |_| {
        let given = fields.draft();
        let changed = given != before;
        storage.store(Some(given).filter(|_| changed).as_ref());
        if unsaved.get_untracked() != changed {
            unsaved.set(changed);
        }
    });
    let (busy, problems) = (RwSignal::new(false), Problems::default());
    let conversation = StoredValue::new(conversation);
    let save = move || {
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        problems.clear();
        let body = body(untrack(|| fields.draft()));
        spawn_local(async move {
            let answer = api_client::ratings::rate(&conversation.get_value(), &body).await;
            busy.try_set(false);
            match answer {
                Ok(seen) => {
                    storage.store(None);
                    let _ = done.try_run(seen);
                }
                Err(error) => problems.set(error),
            }
        });
    };
    let listening = window_event_listener(leptos::ev::keydown, move |event| {
        let sends = event.key() == "Enter" && (event.ctrl_key() || event.meta_key());
        if sends && !event.default_prevented() && !is_elsewhere(&event) {
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
            <FormError why=problems />
            {fields.scores.with_value(|scores| {
                scores.iter().map(|(name, score)| view! { <Criterion name=name.clone() score=*score /> }).collect_view()
            })}
            <Goal goal=fields.goal />
            <FormField label="Comment" wrong=problems.at("/comment")>
                <textarea rows="3" dir="auto" bind:value=fields.comment></textarea>
            </FormField>
            <p class="muted hint">
                "On a slider, type a number from 0 to 10, or press the space bar to give the score that it shows. \
                 Enter goes to the next row, Delete clears the score, Ctrl+Enter saves."
            </p>
            <Send label=send busy />
            <Show when=move || unsaved.get()>
                <p class="inline muted hint">
                    <span>"Not sent yet. Kept in this tab."</span>
                    <button type="button" class="small" on:click={
                        let again = again.clone();
                        move |_| fields.set(again.clone())
                    }>
                        "Start over"
                    </button>
                </p>
            </Show>
        </form>
    }
}

/// Whether somebody is about to rate: letters are no shortcuts to somewhere else then.
pub fn is_rating() -> bool {
    let focused = document().active_element();
    focused.is_some_and(|focused| focused.closest("form.rate").ok().flatten().is_some())
}

/// Whether a key is pressed in a field of something else, or while something is asked.
fn is_elsewhere(event: &KeyboardEvent) -> bool {
    let asked = || document().query_selector("dialog[open]").ok().flatten().is_some();
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    let field = target.and_then(|target| target.closest("form, input, textarea, select").ok().flatten());
    let other = field.is_some_and(|field| field.closest("form.rate").ok().flatten().is_none());
    other || asked()
}

/// What the form holds.
#[derive(Clone, Copy)]
struct Fields {
    scores: StoredValue<Vec<(String, RwSignal<Option<u8>>)>>,
    goal: RwSignal<Option<bool>>,
    comment: RwSignal<String>,
}

impl Fields {
    fn of(criteria: &[String], given: RatingDraft) -> Self {
        let score = |name: &String| (name.clone(), RwSignal::new(given.scores.get(name).copied()));
        Self {
            scores: StoredValue::new(criteria.iter().map(score).collect()),
            goal: RwSignal::new(given.goal_achieved),
            comment: RwSignal::new(given.comment),
        }
    }

    fn draft(self) -> RatingDraft {
        let score = |(name, score): &(String, RwSignal<Option<u8>>)| Some((name.clone(), score.get()?));
        let scores = self.scores.with_value(|scores| scores.iter().filter_map(score).collect());
        RatingDraft { scores, goal_achieved: self.goal.get(), comment: self.comment.get() }
    }

    fn set(self, given: RatingDraft) {
        self.scores
            .with_value(|scores| scores.iter().for_each(|(name, score)| score.set(given.scores.get(name).copied())));
        self.goal.set(given.goal_achieved);
        self.comment.set(given.comment);
    }
}

/// What they said before of what may be rated.
fn previous_rating(criteria: &[String], own: Option<HumanRating>) -> RatingDraft {
    let Some(own) = own else { return RatingDraft::default() };
    RatingDraft {
        scores: own.scores.into_iter().filter(|(name, _)| criteria.contains(name)).collect(),
        goal_achieved: own.goal_achieved,
        comment: own.comment.unwrap_or_default(),
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
            " " => take(score),
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
                max=MAX_SCORE
                step="1"
                prop:value=move || score.get().unwrap_or(UNSET).to_string()
                aria-valuetext=move || score.get().map_or_else(|| "not rated".to_owned(), |score| format!("{score} of {MAX_SCORE}"))
                on:input:target=move |event| score.set(event.target().value().parse().ok())
                on:pointerup=move |event| {
                    if event.button() == 0 {
                        take(score);
                    }
                }
                on:keydown=press
            />
            <output>{text}</output>
        </label>
    }
}

/// Whoever presses a slider where it stands already moves nothing, and yet means it.
fn take(score: RwSignal<Option<u8>>) {
    if score.get_untracked().is_none() {
        score.set(Some(UNSET));
    }
}

/// What a digit makes of a score: 1 and 0 after each other are 10.
fn typed(score: Option<u8>, digit: u8) -> u8 {
    if score == Some(1) && digit == 0 { MAX_SCORE } else { digit }
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

/// The rating as it is sent: what is not rated is left out.
fn body(given: RatingDraft) -> NewRating {
    let RatingDraft { scores, goal_achieved, comment } = given;
    NewRating {
        scores: scores.into_iter().map(|(criterion, score)| (criterion, score.into())).collect(),
        goal_achieved,
        comment: Some(comment).filter(|comment| !comment.trim().is_empty()),
    }
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

    #[test]
    fn what_is_given_is_read_as_it_was_set() {
        Owner::new().with(|| {
            let criteria = ["tone".to_owned(), "overall".to_owned()];
            let fields = Fields::of(&criteria, RatingDraft::default());
            assert_eq!(fields.draft(), RatingDraft::default());
            let given = RatingDraft {
                scores: [("tone".to_owned(), 7)].into(),
                goal_achieved: Some(false),
                comment: "Fine.".to_owned(),
            };
            fields.set(given.clone());
            assert_eq!(fields.draft(), given);
            let sent = NewRating {
                scores: [("tone".to_owned(), 7)].into(),
                goal_achieved: Some(false),
                comment: Some("Fine.".to_owned()),
            };
            assert_eq!(body(given), sent);
            assert_eq!(body(RatingDraft { comment: " ".to_owned(), ..RatingDraft::default() }), NewRating::default());
        });
    }

    #[test]
    fn a_slider_that_is_pressed_where_it_stands_counts() {
        Owner::new().with(|| {
            let score = RwSignal::new(None);
            take(score);
            assert_eq!(score.get_untracked(), Some(UNSET));
            score.set(Some(9));
            take(score);
            assert_eq!(score.get_untracked(), Some(9));
        });
    }
}
