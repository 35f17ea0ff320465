//! A long list, a page at a time: a run may have a hundred thousand conversations.

use domain::api::Page;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api_client::{Answer, ApiError};
use crate::components::{Failure, Loading};

/// What follows the rows that are here.
#[derive(Clone)]
enum Rest {
    Loading,
    /// A cursor.
    More(String),
    Nothing,
    /// The page after this cursor did not come.
    Failed(ApiError, Option<String>),
}

/// Gives the rows that are here to `children`, and the reader a way to the next ones. `empty` is shown when there are none.
#[component]
pub fn Paged<T, F, V, E, W>(
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
    let rest = RwSignal::new(Rest::Loading);
    let load = StoredValue::new(load);
    let load = move |after: Option<String>| {
        rest.set(Rest::Loading);
        let page = load.with_value(|load| load(after.clone()));
        spawn_local(async move {
            // The reader may have left the page meanwhile; then there is nobody to tell.
            match page.await {
                Ok(page) => {
                    rows.try_update(|rows| rows.extend(page.items));
                    rest.try_set(page.next.map_or(Rest::Nothing, Rest::More));
                }
                Err(error) => {
                    rest.try_set(Rest::Failed(error, after));
                }
            }
        });
    };
    load(None);
    let some = Memo::new(move |_| !rows.read().is_empty());
    view! {
        {move || some.get().then(|| children(rows))}
        {move || match rest.get() {
            Rest::Loading => view! { <Loading what /> }.into_any(),
            Rest::Nothing if rows.read_untracked().is_empty() => empty().into_any(),
            Rest::Nothing => ().into_any(),
            Rest::More(cursor) => {
                view! {
                    <button type="button" class="more" on:click=move |_| load(Some(cursor.clone()))>
                        "More"
                    </button>
                }
                    .into_any()
            }
            Rest::Failed(error, after) => view! { <Failure error retry=move || load(after.clone()) /> }.into_any(),
        }}
    }
}
