//! What is on its way from the server.

use leptos::prelude::*;

use crate::api_client::Answer;
use crate::components::{Failure, Loading};

/// Shows what was asked for once it is there; until then, that it is on its way; and if it does not come, why not and how to
/// try again. It is asked for again whenever a signal changes that `load` reads.
#[component]
pub fn AsyncView<T, F, V>(
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
    move || match answer.get() {
        None => view! { <Loading what /> }.into_any(),
        Some(Ok(value)) => view(value).into_any(),
        Some(Err(error)) => view! { <Failure error retry=move || ask_anew(answer) /> }.into_any(),
    }
}

/// Why what was asked for did not come, if it did not: for what goes on without it, such as a choice of names.
pub fn failed<T: Clone + Send + Sync + 'static>(answer: LocalResource<Answer<T>>) -> impl IntoView {
    move || {
        let error = answer.get()?.err()?;
        Some(view! { <Failure error retry=move || ask_anew(answer) /> })
    }
}

/// What a resource has answered last, for a view that also reads what the resource is asked by. Such a view would ask the
/// resource whether it is current, which marks it so, before the resource itself has looked: it would not be asked again.
pub fn settled<T: Clone + Send + Sync + 'static>(answer: LocalResource<T>) -> Signal<Option<T>> {
    let last = RwSignal::new(None);
    Effect::new(move |_| last.set(answer.get()));
    last.into()
}

fn ask_anew<T: Send + Sync + 'static>(answer: LocalResource<Answer<T>>) {
    answer.set(None);
    answer.refetch();
}
