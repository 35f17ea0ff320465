//! A long list, a page at a time: a run may have a hundred thousand conversations.

mod scroll_position;

use domain::api::Page;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api_client::{Answer, ApiError};
use crate::components::{Failure, Loading};
use scroll_position::{List, ScrollPosition};

/// What follows the rows that are here.
#[derive(Clone)]
enum NextPage {
    Loading,
    /// A cursor.
    More(String),
    Nothing,
    /// The page after this cursor did not come.
    Failed(ApiError, Option<String>),
}

/// Gives the rows that are here to `children`, and the reader a way to the next ones. `empty` is shown when there are none.
/// Whoever comes back to the list by the browser's way back finds it as long as it was, and is where they were in it.
#[component]
pub fn PagedList<T, F, V, E, W>(
    what: &'static str,
    /// The first page, or the one after a cursor.
    load: impl Fn(Option<String>) -> F + Send + Sync + 'static,
    empty: E,
    children: impl Fn(RwSignal<Vec<T>>) -> V + Send + 'static,
) -> impl IntoView
where
    T: Clone + Send + Sync + 'static,
    F: Future<Output = Answer<Page<T>>> + 'static,
    V: IntoView + 'static,
    E: Fn() -> W + Send + 'static,
    W: IntoView + 'static,
{
    let rows = RwSignal::new(Vec::<T>::new());
    let rest = RwSignal::new(NextPage::Loading);
    let load = StoredValue::new(load);
    let list = StoredValue::new(List::here(what));
    // Until the reader is there again, what the list looks like is not where they are in it.
    let left = StoredValue::new(list.with_value(List::left));
    let keep = move || list.with_value(|list| list.save(rows.read_untracked().len()));
    let load = move |after: Option<String>| {
        rest.set(NextPage::Loading);
        let first = after.is_none();
        let page = load.with_value(|load| load(after.clone()));
        spawn_local(async move {
            let following = move |after| load.try_with_value(|load| load(after));
            match read(page, after, following, rows, left).await {
                Ok(next) => drop(rest.try_set(next.map_or(NextPage::Nothing, NextPage::More))),
                Err((error, after)) => return drop(rest.try_set(NextPage::Failed(error, after))),
            }
            match left.try_update_value(Option::take) {
                Some(Some(place)) => scroll_position::scroll_to(place.top),
                Some(None) if !first => keep(),
                _ => {}
            }
        });
    };
    load(None);
    let scrolled = window_event_listener(leptos::ev::scroll, move |_| {
        if left.get_value().is_none() {
            keep();
        }
    });
    on_cleanup(move || scrolled.remove());
    let some = Memo::new(move |_| !rows.read().is_empty());
    view! {
        {move || some.get().then(|| children(rows))}
        {move || match rest.get() {
            NextPage::Loading => view! { <Loading what /> }.into_any(),
            NextPage::Nothing if rows.read_untracked().is_empty() => empty().into_any(),
            NextPage::Nothing => ().into_any(),
            NextPage::More(cursor) => {
                view! {
                    <button type="button" class="more" on:click=move |_| load(Some(cursor.clone()))>
                        "More"
                    </button>
                }
                    .into_any()
            }
            NextPage::Failed(error, after) => view! { <Failure error retry=move || load(after.clone()) /> }.into_any(),
        }}
    }
}

/// Waits for a page, and reads on until as many rows are here as there were when the list was left. Gives what follows them;
/// if a page does not come, why not and which one. The reader may have left meanwhile; then there is nobody to tell.
async fn read<T, F>(
    mut page: F,
    mut after: Option<String>,
    following: impl Fn(Option<String>) -> Option<F>,
    rows: RwSignal<Vec<T>>,
    left: StoredValue<Option<ScrollPosition>>,
) -> Result<Option<String>, (ApiError, Option<String>)>
where
    T: Send + Sync + 'static,
    F: Future<Output = Answer<Page<T>>>,
{
    loop {
        let found = page.await.map_err(|error| (error, after))?;
        let here = rows.try_update(|rows| {
            rows.extend(found.items);
            rows.len()
        });
        let missing = left.try_get_value().flatten().is_some_and(|place| here < Some(place.rows));
        if !missing || found.next.is_none() {
            return Ok(found.next);
        }
        after = found.next;
        let Some(next) = following(after.clone()) else { return Ok(after) };
        page = next;
    }
}
