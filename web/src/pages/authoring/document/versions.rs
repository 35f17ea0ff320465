//! The versions of a document, and what changed from one to another. The address says which two are compared.

use domain::api::documents::{DocumentVersion, Restoration};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;

use super::changes::Changes;
use crate::pages::authoring::draft::Draft;
use crate::pages::authoring::words;
use ui::components::{AsyncView, Badge, Change, Changing, FormField, PagedList};
use ui::labels::Tone;
use ui::{api_client, format};

type Part = (Memo<Option<i32>>, SignalSetter<Option<i32>>);

#[component]
pub fn VersionsPanel() -> impl IntoView {
    let draft = Draft::here();
    let part = |name: &'static str| {
        query_signal_with_options::<i32>(name, NavigateOptions { scroll: false, ..NavigateOptions::default() })
    };
    let (from, to) = (part("from"), part("to"));
    let newest = Memo::new(move |_| draft.saved.read().saved.version);
    let compared = Memo::new(move |_| {
        let to = to.0.get().unwrap_or(newest.get());
        (from.0.get().unwrap_or(to - 1), to)
    });
    view! {
        <div class="versions">
            <div>
                <Show when=move || unsaved(draft)>
                    <p class="muted" id=WHY_NOT>
                        "Save or discard your changes before you restore an older version."
                    </p>
                </Show>
                {move || {
                    newest.track();
                    let load = move |after| {
                        let place = draft.place();
                        async move { api_client::documents::versions(&place, after).await }
                    };
                    view! {
                        <PagedList what="versions" load empty=|| () let:rows>
                            <ol class="history" aria-label="Versions, newest first">
                                <For each=move || rows.get() key=|row: &DocumentVersion| row.version let:version>
                                    <Version version compared from to newest />
                                </For>
                            </ol>
                        </PagedList>
                    }
                }}
            </div>
            <section aria-labelledby="changes">
                <h2 id="changes" class="unseen">
                    "Changes"
                </h2>
                <VersionDiff compared from to newest />
            </section>
        </div>
    }
}

/// Says why nothing can be restored.
const WHY_NOT: &str = "restored-later";

/// What is in the editor and not saved would be lost by restoring.
fn unsaved(draft: Draft) -> bool {
    draft.may_write.get() && draft.dirty.get()
}

#[component]
fn Version(
    version: DocumentVersion,
    compared: Memo<(i32, i32)>,
    from: Part,
    to: Part,
    newest: Memo<i32>,
) -> impl IntoView {
    let draft = Draft::here();
    let DocumentVersion { version: number, promoted, deleted, findings, message, author, created_at, .. } = version;
    let restoring = Change::new();
    let restore = move |_| {
        if untrack(|| unsaved(draft)) {
            return;
        }
        let (place, base_version) = (draft.place(), Some(newest.get_untracked()));
        let wanted = Restoration { version: number, base_version, ..Restoration::default() };
        let change = move |signal| async move {
            api_client::documents::restore(&signal, &place, &wanted).await?;
            api_client::documents::one(&place).await
        };
        restoring.act(format!("v{number} was restored as a draft."), change, move |document| draft.adopt(document));
    };
    let show = move |_| {
        from.1.set(Some(number - 1));
        to.1.set(Some(number));
    };
    let restorable = move || !deleted && draft.may_write.get() && number != newest.get();
    let by = if author.is_empty() { "a command".to_owned() } else { author };
    let shown = move || if compared.get().1 == number { "true" } else { "false" };
    view! {
        <li aria-current=shown>
            <p class="badges">
                <strong>{format!("v{number}")}</strong>
                {promoted.then(|| view! { <Badge tone=Tone::Good text="promoted" /> })}
                {deleted.then(|| view! { <Badge tone=Tone::Bad text="deleted" /> })}
                {words::counted(findings).into_iter().map(|(tone, text)| view! { <Badge tone text /> }).collect_view()}
            </p>
            <p class="text">{message}</p>
            <p class="muted">
                {by} ", " <time datetime=created_at.to_rfc3339()>{format::time(created_at)}</time>
            </p>
            <p class="badges">
                <button type="button" on:click=show aria-label=format!("Changes of v{number}")>
                    "Changes"
                </button>
                <Show when=restorable>
                    <button
                        type="button"
                        aria-label=format!("Restore v{number}")
                        aria-disabled=move || (restoring.busy() || unsaved(draft)).to_string()
                        aria-describedby=move || unsaved(draft).then_some(WHY_NOT)
                        on:click=restore
                    >
                        "Restore"
                    </button>
                </Show>
            </p>
            <Changing change=restoring what="Restoring: the server checks it" />
        </li>
    }
}

#[component]
fn VersionDiff(compared: Memo<(i32, i32)>, from: Part, to: Part, newest: Memo<i32>) -> impl IntoView {
    let draft = Draft::here();
    let load = move || {
        let (from, to) = compared.get();
        let place = draft.place();
        async move { api_client::documents::diff(&place, from, to).await }
    };
    let choice = move |chosen: fn((i32, i32)) -> i32, part: Part, first: i32| {
        view! {
            <select on:change:target=move |event| part.1.set(event.target().value().parse().ok())>
                {move || {
                    let option = |number: i32| {
                        let selected = move || chosen(compared.get()) == number;
                        let says = if number == 0 { "nothing".to_owned() } else { format!("v{number}") };
                        view! {
                            <option value=number.to_string() prop:selected=selected>
                                {says}
                            </option>
                        }
                    };
                    (first..=newest.get()).rev().map(option).collect_view()
                }}
            </select>
        }
    };
    view! {
        <div class="compared">
            <FormField label="From">{choice(|(from, _)| from, from, 0)}</FormField>
            <FormField label="To">{choice(|(_, to)| to, to, 1)}</FormField>
        </div>
        <AsyncView what="the changes" load let:diff>
            <Changes diff />
        </AsyncView>
    }
}
