//! One document in a list.

use domain::api::documents::{DocumentMetadata, DocumentSummary};
use domain::project::{Kind, PERSONA_MODEL};
use leptos::prelude::*;
use leptos_router::components::A;

use super::words;
use ui::components::Badge;
use ui::labels::Tone;
use ui::session::Project;
use ui::{address, format};

#[component]
pub fn Row(document: DocumentSummary, deleting: RwSignal<Option<String>>, author: Memo<bool>) -> impl IntoView {
    let DocumentSummary { kind, name, version, promoted, about, findings, author: by, updated_at, .. } = document;
    let href = address::document(&Project::here().name(), kind, &name);
    let (tone, used) = words::used(version, promoted);
    let found = words::counted(findings);
    let sound = found.is_empty();
    let by = if by.is_empty() { String::new() } else { format!("by {by}") };
    // It stands among the profiles, which are all made of its dimensions; without it none could be read.
    let is_model = kind == Kind::Persona && name == PERSONA_MODEL;
    let title =
        if is_model { "The persona model: the dimensions that all profiles share.".to_owned() } else { title(&about) };
    let may_delete = move || author.get() && !is_model;
    let doomed = name.clone();
    let label = format!("Delete {name}");
    view! {
        <tr>
            <td class="scenario">
                <A href>{name}</A>
                <p class="muted about">{title}</p>
            </td>
            {(kind == Kind::Scenario).then(|| view! { <Case about /> })}
            <td>
                <span class="badges">
                    {sound.then(|| view! { <Badge tone=Tone::Good text="sound" /> })}
                    {found.into_iter().map(|(tone, text)| view! { <Badge tone text /> }).collect_view()}
                </span>
            </td>
            <td>
                <Badge tone text=used />
            </td>
            <td class="muted">
                <time datetime=updated_at.to_rfc3339()>{format::time(updated_at)}</time>
                " "
                {by}
            </td>
            <td class="number">
                <Show when=may_delete>
                    <button
                        type="button"
                        class="quiet apart"
                        aria-label=label.clone()
                        on:click={
                            let doomed = doomed.clone();
                            move |_| deleting.set(Some(doomed.clone()))
                        }
                    >
                        "Delete"
                    </button>
                </Show>
            </td>
        </tr>
    }
}

fn title(about: &DocumentMetadata) -> String {
    match (about.title.as_str(), about.description.as_str()) {
        ("", description) => description.to_owned(),
        (title, "") => title.to_owned(),
        (title, description) => format!("{title}: {description}"),
    }
}

#[component]
fn Case(about: DocumentMetadata) -> impl IntoView {
    let DocumentMetadata { playbook, intent, tags, .. } = about;
    view! {
        <td>
            <p>{playbook}</p>
            <p class="muted about">{intent}</p>
            <p class="badges">
                {tags.into_iter().map(|text| view! { <Badge tone=Tone::Neutral text /> }).collect_view()}
            </p>
        </td>
    }
}
