//! What is on its way from the server.

use leptos::prelude::*;

use crate::api_client::Answer;
use crate::components::{Failure, Loading};

/// Shows what was asked for once it is there; until then, that it is on its way; and if it does not come, why not and how to
/// try again. It is asked for again whenever a signal changes that `load` reads.
#[component]
pub fn Fetched<T, F, V>(
    /// As it stands in "Loading … ".
    what: &'static str,
    load: impl Fn() -> F + 'static,
    children: impl Fn(T) -> V + Send + 'static,
) -> impl IntoView
where
    T: Clone + Send + Sync + 'static,
    F: Future<Output = Answer<T>> + 'static,
    V: IntoView + 'static,
{
    show(what, LocalResource::new(load), children)
}

/// The same for what the caller asks for, and may ask for again.
pub fn show<T, V>(
    what: &'static str,
    answer: LocalResource<Answer<T>>,
    view: impl Fn(T) -> V + Send + 'static,
) -> impl IntoView
where
    T: Clone + Send + Sync + 'static,
    V: IntoView + 'static,
{
    let retry = move || {
        answer.set(None);
        answer.refetch();
    };
    move || match answer.get() {
        None => view! { <Loading what /> }.into_any(),
        Some(Ok(value)) => view(value).into_any(),
        Some(Err(error)) => view! { <Failure error retry /> }.into_any(),
    }
}
