//! A list that the API answers in one piece, which may be asked for again and again: only its first rows are on the page,
//! and the reader gets more of them.

use leptos::prelude::*;

use crate::format;

/// Rows that come at once: as many as of lists that the API gives in pages.
const ROWS: usize = 50;

/// How many rows the reader asked for.
#[derive(Clone, Copy)]
pub struct FirstRows(RwSignal<usize>);

impl FirstRows {
    pub fn new() -> Self {
        Self(RwSignal::new(ROWS))
    }

    /// Those of a list that are on the page.
    pub fn of<T>(self, all: impl IntoIterator<Item = T>) -> Vec<T> {
        all.into_iter().take(self.0.get()).collect()
    }

    /// The same as elements, of a list that stays as it is: whoever asks for more changes nothing of those that are there.
    pub fn rows<T, V>(self, all: Vec<T>, row: impl Fn(T) -> V + Clone + Send + 'static) -> impl IntoView
    where
        T: Clone + Send + 'static,
        V: IntoView + 'static,
    {
        let shown = move || self.of(all.iter().cloned().enumerate());
        view! { <For each=shown key=|(at, _)| *at children=move |(_, one)| row(one) /> }
    }

    /// Shows as many as lead to the one with this number, which somebody is led to.
    pub fn reach(self, at: usize) {
        let missing = at.saturating_add(1).saturating_sub(self.0.get_untracked());
        if missing > 0 {
            self.0.update(|rows| *rows += missing.div_ceil(ROWS) * ROWS);
        }
    }
}

/// The way to the rows that are not there yet.
#[component]
pub fn MoreRows(
    first: FirstRows,
    /// How many rows there are.
    #[prop(into)]
    all: Signal<usize>,
) -> impl IntoView {
    let more = Memo::new(move |_| all.get() > first.0.get());
    let shown = move || format!("{} of {}", count(first.0.get()), count(all.get()));
    view! {
        <Show when=move || more.get()>
            <p class="inline">
                <button type="button" class="more" on:click=move |_| first.0.update(|rows| *rows += ROWS)>
                    "More"
                </button>
                <span class="muted">{shown}</span>
            </p>
        </Show>
    }
}

fn count(n: usize) -> String {
    format::count(i64::try_from(n).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_rows_are_shown_until_more_are_asked_for() {
        let owner = Owner::new();
        owner.set();
        let first = FirstRows::new();
        assert_eq!(first.of(0..3), [0, 1, 2]);
        assert_eq!(first.of(0..5_000).len(), ROWS);
        first.0.update(|rows| *rows += ROWS);
        assert_eq!(first.of(0..5_000).last(), Some(&99));
    }

    #[test]
    fn whoever_is_led_to_a_row_sees_it() {
        let owner = Owner::new();
        owner.set();
        let first = FirstRows::new();
        first.reach(49);
        assert_eq!(first.of(0..5_000).len(), ROWS);
        first.reach(50);
        assert_eq!(first.of(0..5_000).len(), 2 * ROWS);
        first.reach(420);
        assert_eq!(first.of(0..5_000).len(), 450);
        first.reach(3);
        assert_eq!(first.of(0..5_000).len(), 450, "nothing is taken away");
    }
}
