//! What people noted.

use domain::access::Role;
use domain::api::{Annotation, AnnotationChange};
use leptos::prelude::*;

use super::notes::Notes;
use ui::components::{Badge, Confirm, FirstRows, LongText, MoreRows, act};
use ui::labels::Tone;
use ui::session::{Project, Session};
use ui::{api_client, format};

#[component]
pub fn Remarks(own: Memo<Vec<Annotation>>, notes: Notes) -> impl IntoView {
    let first = FirstRows::new();
    view! {
        <For each=move || first.of(own.get()) key=|one| (one.id.clone(), one.resolved_at, one.text.len()) let:one>
            <Remark one notes />
        </For>
        <MoreRows first all=Signal::derive(move || own.read().len()) />
    }
}

#[component]
fn Remark(one: Annotation, notes: Notes) -> impl IntoView {
    let Annotation { id, text, labels, author, created_at, resolved_by, .. } = one;
    let (project, busy) = (Project::here(), RwSignal::new(false));
    let resolved = resolved_by.is_some();
    let id = StoredValue::new(id);
    let own = Session::here().name().as_deref() == Some(author.as_str());
    let may_delete = own || project.may(Role::Admin);
    let (asks, whose) =
        (RwSignal::new(false), if own { "your annotation".to_owned() } else { format!("{author}'s annotation") });
    let resolve = move |_| {
        let body = AnnotationChange { resolved: Some(!resolved), ..AnnotationChange::default() };
        let change = async move { api_client::annotations::change(&id.get_value(), &body).await };
        act(busy, "", change, move |changed: Annotation| {
            notes.annotations.try_update(|all| {
                if let Some(known) = all.iter_mut().find(|known| known.id == changed.id) {
                    *known = changed;
                }
            });
        });
    };
    let remove = move |()| {
        let gone = id.get_value();
        let change = async move { api_client::annotations::remove(&id.get_value()).await };
        act(busy, "Deleted.", change, move |()| {
            notes.annotations.try_update(|all| all.retain(|known| known.id != gone));
        });
    };
    let label = |label: String| view! { <Badge tone=Tone::Notable text=label /> };
    view! {
        <aside class="remark" class:resolved=resolved aria-label="Annotation">
            <div class="inline">
                <strong><bdi>{author}</bdi></strong>
                <time class="muted" datetime=created_at.to_rfc3339()>
                    {format::time(created_at)}
                </time>
                {labels.into_iter().map(label).collect_view()}
                {resolved_by.map(|by| view! { <Badge tone=Tone::Good text=format!("resolved by {by}") /> })}
            </div>
            <LongText text />
            <div class="inline">
                {project.may(Role::Author).then(|| view! {
                    <button type="button" class="small" on:click=resolve>
                        {if resolved { "Open again" } else { "Resolve" }}
                    </button>
                })}
                {may_delete.then(|| view! {
                    <button type="button" class="small danger" on:click=move |_| asks.set(true)>
                        "Delete"
                    </button>
                })}
            </div>
            {may_delete.then(|| view! {
                <Confirm
                    title=format!("Delete {whose}?")
                    text="It is deleted for everybody and cannot be restored."
                    yes_says="Delete it"
                    open=asks
                    yes=remove
                />
            })}
        </aside>
    }
}
