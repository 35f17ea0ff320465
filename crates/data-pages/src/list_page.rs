//! The page of each kind of thing that jobs build: what the project has of it, newest first.

use domain::access::Role;
use domain::api::{BuildState, Page};
use leptos::prelude::*;
use leptos_router::components::A;

use super::rows::{ListedJob, follow_rows, row};
use ui::address;
use ui::api_client::Answer;
use ui::components::{Badge, PagedList, Stale, set_title};
use ui::labels::Tone;
use ui::session::Project;

pub struct Column {
    pub name: &'static str,
    pub is_number: bool,
}

pub const fn text(name: &'static str) -> Column {
    Column { name, is_number: false }
}

pub const fn number(name: &'static str) -> Column {
    Column { name, is_number: true }
}

/// The button that leads to the form for another one.
#[derive(Clone, Copy)]
pub struct NewButton {
    pub label: &'static str,
    /// Within the project.
    pub path: &'static str,
    /// Who may make one.
    pub role: Role,
}

#[component]
pub fn ListPage<T, F>(
    title: &'static str,
    /// The title within a sentence.
    what: &'static str,
    #[prop(optional)] new: Option<NewButton>,
    columns: &'static [Column],
    /// The page of a project's list after a cursor.
    load: fn(String, Option<String>) -> F,
    /// Stands in place of the list as long as there are none.
    empty: fn() -> AnyView,
    /// The cells of a row.
    cells: fn(Memo<T>) -> AnyView,
) -> impl IntoView
where
    T: ListedJob,
    F: Future<Output = Answer<Page<T>>> + 'static,
{
    set_title(title);
    let project = Project::here();
    let button = new.map(|NewButton { label, path, role }| {
        let href = move || address::project(&project.name(), path);
        view! {
            <Show when=move || project.may(role)>
                <A href={href} {..} class="button main">
                    {label}
                </A>
            </Show>
        }
    });
    view! {
        <header class="heading">
            <h1>{title}</h1>
            {button}
        </header>
        {move || {
            let name = project.name();
            let load_page = move |after| load(name.clone(), after);
            view! {
                <PagedList what load=load_page empty let:rows>
                    <List rows columns load cells />
                </PagedList>
            }
        }}
    }
}

#[component]
fn List<T, F>(
    rows: RwSignal<Vec<T>>,
    columns: &'static [Column],
    load: fn(String, Option<String>) -> F,
    cells: fn(Memo<T>) -> AnyView,
) -> impl IntoView
where
    T: ListedJob,
    F: Future<Output = Answer<Page<T>>> + 'static,
{
    let project = Project::here();
    let lost = follow_rows(rows, move |after| load(project.0.get_untracked(), after));
    let head = |column: &Column| {
        view! {
            <th scope="col" class:number=column.is_number>
                {column.name}
            </th>
        }
    };
    view! {
        <Stale error=lost />
        <table class="rows">
            <thead>
                <tr>{columns.iter().map(head).collect_view()}</tr>
            </thead>
            <tbody>
                <For each=move || rows.get() key=|listed: &T| listed.id().to_owned() let:listed>
                    <tr>{cells(row(rows, listed))}</tr>
                </For>
            </tbody>
        </table>
    }
}

/// The cell that leads to the page of a thing. `folder`: where such pages are within the project.
pub fn link(folder: &str, id: &str, name: String) -> impl IntoView {
    let href = address::project(&Project::here().name(), &format!("/{folder}/{id}"));
    view! {
        <td class="scenario">
            <A href>{name}</A>
        </td>
    }
}

pub fn state<T: ListedJob>(own: Memo<T>) -> impl IntoView {
    view! { <td>{move || badge(own.read().state())}</td> }
}

/// A number that is there once the thing is built.
pub fn figure<T: ListedJob>(own: Memo<T>, of: fn(&T) -> Option<String>) -> impl IntoView {
    view! { <td class="number">{move || of(&own.read()).unwrap_or_else(|| "–".to_owned())}</td> }
}

pub fn badge(state: BuildState) -> impl IntoView {
    let tone = match state {
        BuildState::Building => Tone::Notable,
        BuildState::Ready => Tone::Good,
        BuildState::Failed => Tone::Bad,
        BuildState::Cancelled => Tone::Neutral,
    };
    view! { <Badge tone text=state.into_str() /> }
}
