//! The documents of a kind.

mod delete;
mod filters;
mod interface;
mod new;
mod row;
mod start;

use domain::access::Role;
use domain::api::documents::{DocumentListParams, DocumentSummary};
use domain::project::Kind;
use leptos::prelude::*;
use leptos_router::components::A;

use super::words;
pub use delete::DeleteDialog;
use filters::{DocumentFilter, Filters};
use new::NewDialog;
use row::Row;
pub use start::add_model;
use ui::components::{Empty, LoadDemo, PagedList, set_title};
use ui::keys::use_shortcut;
use ui::session::Project;
use ui::{address, api_client};

#[component]
pub fn DocumentsPage(kind: Kind) -> impl IntoView {
    set_title(words::plural(kind));
    let project = Project::here();
    let wanted = DocumentFilter::in_address();
    let (creating, deleting, changes) = (RwSignal::new(false), RwSignal::new(None), RwSignal::new(0_u32));
    let author = Memo::new(move |_| project.may(Role::Author));
    use_shortcut("n", format!("New {kind}"), move || creating.set(author.get_untracked()));
    let again = move || changes.update(|changes| *changes += 1);
    view! {
        <header class="document-head">
            <h1>{words::plural(kind)}</h1>
            <div class="actions">
                <A href=move || address::project(&project.name(), "/validation") {..} class="button">
                    "Validation"
                </A>
                <Show when=move || author.get()>
                    <button type="button" class="main" on:click=move |_| creating.set(true)>
                        {format!("New {kind}")}
                    </button>
                </Show>
            </div>
        </header>
        <Filters kind wanted />
        {move || {
            changes.track();
            let (project, which) = (project.name(), wanted.params());
            let narrowed = which != DocumentListParams::default();
            let load = move |after| {
                let (project, params) = (project.clone(), DocumentListParams { after, ..which.clone() });
                async move { api_client::documents::list(&project, kind, &params).await }
            };
            view! {
                <PagedList what="documents" load empty=move || view! { <NoDocuments kind narrowed again /> } let:rows>
                    <Table kind rows deleting author />
                </PagedList>
            }
        }}
        <NewDialog kind open=creating made=move |()| again() />
        <DeleteDialog kind name=deleting done=move |_| again() />
    }
}

#[component]
fn Table(
    kind: Kind,
    rows: RwSignal<Vec<DocumentSummary>>,
    deleting: RwSignal<Option<String>>,
    author: Memo<bool>,
) -> impl IntoView {
    view! {
        <table class="rows documents">
            <thead>
                <tr>
                    <th scope="col">"Name"</th>
                    {(kind == Kind::Scenario).then(|| view! { <th scope="col">"Playbook and intent"</th> })}
                    <th scope="col">"Findings"</th>
                    <th scope="col">"Version"</th>
                    <th scope="col">"Changed"</th>
                    <th scope="col">
                        <span class="unseen">"Actions"</span>
                    </th>
                </tr>
            </thead>
            <tbody>
                <For each=move || rows.get() key=|row: &DocumentSummary| (row.name.clone(), row.version) let:document>
                    <Row document deleting author />
                </For>
            </tbody>
        </table>
    }
}

#[component]
fn NoDocuments(kind: Kind, narrowed: bool, again: impl Fn() + Copy + Send + Sync + 'static) -> impl IntoView {
    if narrowed {
        return view! {
            <Empty title="No matches.">
                <p>"No document matches all filters. Remove some of them."</p>
            </Empty>
        }
        .into_any();
    }
    view! {
        <Empty title="No documents yet.">
            <p>{words::meaning(kind)}</p>
            <p>"You can begin with the documents that ship with Groundstate: three playbooks and all that belongs to them. Documents \
                that the project has stay as they are."</p>
            <LoadDemo done=again />
        </Empty>
    }
    .into_any()
}
