//! What differs between two versions: fields in short, and lines.

use domain::api::documents::{Change, DocumentDiff, FieldChange, FileDiff};
use leptos::prelude::*;

use ui::components::{Badge, FirstRows, MoreRows, UnifiedDiff};
use ui::labels::Tone;

#[component]
pub fn Changes(diff: DocumentDiff) -> impl IntoView {
    if diff.files.is_empty() {
        return view! { <p class="muted">"No differences."</p> }.into_any();
    }
    diff.files.into_iter().map(|file| view! { <File file /> }).collect_view().into_any()
}

#[component]
fn File(file: FileDiff) -> impl IntoView {
    let FileDiff { path, change, unified, fields } = file;
    let fields = fields.unwrap_or_default();
    let (first, all) = (FirstRows::new(), fields.len());
    let label = format!("Changes of {path}");
    view! {
        <section class="changed">
            <h3>
                <code>{path}</code>
                " "
                <Badge tone=tone(change) text=change.into_str() />
            </h3>
            <ul class="fields-changed">
                {first.rows(fields, |field| view! { <Field field /> })}
            </ul>
            <MoreRows first all=Signal::stored(all) />
            <UnifiedDiff text=unified label />
        </section>
    }
}

#[component]
fn Field(field: FieldChange) -> impl IntoView {
    let pointer = if field.pointer.is_empty() { "/".to_owned() } else { field.pointer };
    view! {
        <li>
            <Badge tone=tone(field.change) text=field.change.into_str() />
            " "
            <code>{pointer}</code>
        </li>
    }
}

const fn tone(change: Change) -> Tone {
    match change {
        Change::Added => Tone::Good,
        Change::Deleted => Tone::Bad,
        Change::Changed | Change::Promoted => Tone::Neutral,
    }
}
