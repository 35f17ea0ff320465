//! One document: its text with all that is wrong with it, its versions, and what needs it.

mod changes;
mod checking;
mod conflict;
mod deleted;
mod files;
mod header;
mod help;
mod problems;
mod scenario;
mod versions;
mod write;

use domain::api::documents::Document;
use domain::project::{Kind, PERSONA_MODEL};
use leptos::prelude::*;

use super::draft::Draft;
use super::draft_guard;
use super::persona::{ComparePanel, ProfilePanel};
use super::playbook::{PromptsPanel, ToolTrials, ToolsPanel, TryPanel};
use super::references::References;
use super::uses::UsesPanel;
use super::workflow::RunsPanel;
use header::Header;
use ui::api_client::documents::DocumentRef;
use ui::components::{AsyncView, Tabs, set_title, use_tab};
use ui::session::Project;
use ui::{address, api_client};
use versions::VersionsPanel;
use write::Write;

#[component]
pub fn DocumentPage(kind: Kind) -> impl IntoView {
    let (name, project) = (address::use_id("name"), Project::here());
    let again = RwSignal::new(0_u32);
    let load = move || {
        again.track();
        let place = DocumentRef::new(project.name(), kind, name.get());
        async move {
            match api_client::documents::one(&place).await {
                Err(error) if error.is_missing() => Ok((place, None)),
                answer => answer.map(|document| (place, Some(document))),
            }
        }
    };
    view! {
        <AsyncView what="the document" load let:found>
            {match found {
                (place, Some(document)) => view! { <DocumentView place document /> }.into_any(),
                (place, None) => {
                    view! { <deleted::DeletedDocument place restored=move || again.update(|again| *again += 1) /> }.into_any()
                }
            }}
        </AsyncView>
    }
}

type Names = [(&'static str, &'static str)];

/// The parts of a page, as the address and as the button names them. The first is shown first.
fn tabs(kind: Kind, name: &str) -> (&'static [&'static str], &'static Names) {
    match kind {
        Kind::Persona if name != PERSONA_MODEL => (
            &["profile", "source", "compare", "versions", "used-by"],
            &[
                ("profile", "Profile"),
                ("source", "Source"),
                ("compare", "Compare"),
                ("versions", "Versions"),
                ("used-by", "Used by"),
            ],
        ),
        Kind::Playbook => (
            &["source", "tools", "prompts", "try", "versions", "used-by"],
            &[
                ("source", "Source"),
                ("tools", "Tools"),
                ("prompts", "Prompts"),
                ("try", "Try"),
                ("versions", "Versions"),
                ("used-by", "Used by"),
            ],
        ),
        Kind::Workflow => (
            &["source", "runs", "versions", "used-by"],
            &[("source", "Source"), ("runs", "Runs"), ("versions", "Versions"), ("used-by", "Used by")],
        ),
        _ => (
            &["source", "versions", "used-by"],
            &[("source", "Source"), ("versions", "Versions"), ("used-by", "Used by")],
        ),
    }
}

#[component]
fn DocumentView(place: DocumentRef, document: Document) -> impl IntoView {
    set_title(&document.name);
    let (names, labels) = tabs(document.kind, &document.name);
    let draft = Draft::open(place, document);
    let references = References::of(draft);
    provide_context(draft);
    provide_context(references);
    provide_context(ToolTrials::of(draft));
    checking::keep_checked(draft, references);
    draft_guard::guard(draft);
    let (tab, choose) = use_tab("tab", names);
    view! {
        <Header />
        <Tabs label="Parts of the document" tabs=labels chosen=tab choose />
        // It stays while another part is shown: where the author was, and what can be undone, is not lost.
        <section role="tabpanel" id="panel-source" aria-labelledby="tab-source" hidden=move || tab.get() != "source">
            <Write />
        </section>
        {move || {
            let part = match tab.get() {
                "profile" => view! { <ProfilePanel /> }.into_any(),
                "compare" => view! { <ComparePanel /> }.into_any(),
                "tools" => view! { <ToolsPanel choose /> }.into_any(),
                "prompts" => view! { <PromptsPanel choose /> }.into_any(),
                "try" => view! { <TryPanel /> }.into_any(),
                "runs" => view! { <RunsPanel /> }.into_any(),
                "versions" => view! { <VersionsPanel /> }.into_any(),
                "used-by" => view! { <UsesPanel /> }.into_any(),
                _ => return None,
            };
            let name = tab.get_untracked();
            Some(
                view! {
                    <section role="tabpanel" id=format!("panel-{name}") aria-labelledby=format!("tab-{name}")>
                        {part}
                    </section>
                },
            )
        }}
        <conflict::Conflict />
    }
}
