//! Where a value of a world comes from, said in the same way on every page.

use domain::api::{Provenance, Writer};
use leptos::prelude::*;

use crate::api_client::Answer;
use crate::components::{Failure, Loading, LongText, settled};

/// Of the value that was picked; nothing if none was. It is asked for again whenever a signal changes that `ask` reads.
#[component]
pub fn OriginOf<F>(
    #[prop(into)] picked: Signal<Option<String>>,
    /// Where the value at a JSON pointer comes from; `None` if nothing stands there.
    ask: impl Fn(String) -> F + 'static,
    /// Said of a place at which nothing stands.
    gone: &'static str,
    /// How a call is named by its event, such as `event 7`.
    place: Callback<u32, String>,
    /// Shows the call.
    go: Callback<u32>,
    /// What the button says that does so.
    show: &'static str,
) -> impl IntoView
where
    F: Future<Output = Answer<Option<Provenance>>> + 'static,
{
    let answer = LocalResource::new(move || {
        let asked = picked.get().map(|pointer| (pointer.clone(), ask(pointer)));
        async move {
            let (pointer, answer) = asked?;
            Some((pointer, answer.await))
        }
    });
    let last = settled(answer);
    move || {
        let picked = picked.get()?;
        let body = match last.get().flatten().filter(|(pointer, _)| *pointer == picked) {
            None => view! { <Loading what="its origin" /> }.into_any(),
            Some((_, Ok(Some(found)))) => view! { <ProvenanceView found place go show /> }.into_any(),
            Some((pointer, Ok(None))) => view! {
                <p>
                    <code>{pointer}</code>
                    ": "
                    {gone}
                </p>
            }
            .into_any(),
            Some((_, Err(error))) => view! { <Failure error retry=move || answer.refetch() /> }.into_any(),
        };
        Some(view! {
            <section class="origin" aria-label="Where did this value come from?" aria-live="polite">
                <h3>"Where did this value come from?"</h3>
                {body}
            </section>
        })
    }
}

#[component]
fn ProvenanceView(
    found: Provenance,
    place: Callback<u32, String>,
    go: Callback<u32>,
    show: &'static str,
) -> impl IntoView {
    let Provenance { pointer, value, written_by } = found;
    let text = match value {
        serde_json::Value::String(text) => text,
        other => format!("{other:#}"),
    };
    let button = written_by.as_ref().map(|writer| {
        let seq = writer.seq;
        view! {
            <button type="button" class="small" on:click=move |_| go.run(seq)>
                {show}
            </button>
        }
    });
    view! {
        <code>{pointer}</code>
        <LongText text />
        <p class="inline">
            <WrittenBy writer=written_by place />
            {button}
        </p>
    }
}

/// "Written by `open_dispute` in event 7.", or that no call did.
#[component]
pub fn WrittenBy(writer: Option<Writer>, place: Callback<u32, String>) -> impl IntoView {
    match writer {
        None => view! { <span>"It was there from the start."</span> }.into_any(),
        Some(Writer { seq, tool, .. }) => {
            view! { <span>"Written by " <code>{tool}</code> {format!(" in {}.", place.run(seq))}</span> }.into_any()
        }
    }
}
