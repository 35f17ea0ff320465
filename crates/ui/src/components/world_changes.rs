//! What changed in a world, each place with its value before and after.

use std::collections::HashMap;

use domain::patch::Change;
use leptos::prelude::*;
use serde_json::Value;

use crate::components::long_text::beginning;
use crate::components::{FirstRows, LongText, Mark, MoreRows};

/// Letters of a place that stand in its line.
const PLACE: usize = 200;

/// Nothing if nothing changed.
#[component]
pub fn WorldChanges(
    /// Names the list to screen readers.
    label: &'static str,
    #[prop(into)] changes: Signal<Vec<Change>>,
    /// Somebody chooses a value that is there.
    pick: Callback<String>,
) -> impl IntoView {
    let one = move |change: Change| view! { <OneChange change pick /> };
    move || {
        let changes = changes.get();
        (!changes.is_empty()).then(|| {
            let (first, all) = (FirstRows::new(), changes.len());
            view! {
                <section class="world-changes" aria-label=label>
                    <h3>"Changed"</h3>
                    <ul class="patch">{first.rows(changes, one)}</ul>
                    <MoreRows first all=Signal::stored(all) />
                </section>
            }
        })
    }
}

#[component]
fn OneChange(change: Change, pick: Callback<String>) -> impl IntoView {
    let Change { pointer, was, is } = change;
    let verb = match (&was, &is) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    };
    let value = |value: Option<Value>| value.map(|value| view! { <LongText text=format!("{value:#}") code=true /> });
    let place = match &is {
        Some(_) => {
            let says = beginning(&pointer, PLACE);
            view! {
                <button type="button" class="quiet pointer" on:click=move |_| pick.run(pointer.clone())>
                    <code>{says}</code>
                </button>
            }
            .into_any()
        }
        None => view! { <code>{beginning(&pointer, PLACE)}</code> }.into_any(),
    };
    view! {
        <li>
            <span class="verb">{verb}</span>
            {place}
            {value(was).map(|was| view! { <del>{was}</del> })}
            {value(is).map(|is| view! { <ins>{is}</ins> })}
        </li>
    }
}

/// What is to be noticed in a tree of the world afterwards.
pub fn marks(changes: &[Change]) -> HashMap<String, Mark> {
    let mark =
        |change: &Change| (change.pointer.clone(), if change.was.is_some() { Mark::Changed } else { Mark::Added });
    changes.iter().filter(|change| change.is.is_some()).map(mark).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_gone_is_not_marked() {
        let change =
            |pointer: &str, was: Option<Value>, is: Option<Value>| Change { pointer: pointer.to_owned(), was, is };
        let changes = [
            change("/a", Some(json!(1)), Some(json!(2))),
            change("/b", Some(json!(1)), None),
            change("/c", None, Some(json!(null))),
        ];
        let expected = [("/a", Mark::Changed), ("/c", Mark::Added)];
        assert_eq!(marks(&changes), HashMap::from(expected.map(|(pointer, mark)| (pointer.to_owned(), mark))));
    }
}
