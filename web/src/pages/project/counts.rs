//! What a project holds, in figures that lead there, and the ways on.

use domain::access::Role;
use domain::api::ConversationFacets;
use domain::filter::Dimension;
use domain::project::Kind;
use leptos::prelude::*;
use leptos_router::components::A;

use ui::api_client::projects::{self, Count};
use ui::components::{Stale, refresh};
use ui::session::{Project, Session};
use ui::{address, format};

/// Documents change when people save them: no need to look again and again.
const KINDS: [(Kind, &str, &str); 5] = [
    (Kind::Scenario, "Scenarios", "/scenarios"),
    (Kind::Playbook, "Playbooks", "/playbooks"),
    (Kind::Persona, "Personas", "/personas"),
    (Kind::Judge, "Judges", "/judges"),
    (Kind::Workflow, "Workflows", "/workflows"),
];

#[component]
pub fn Counts(name: String) -> impl IntoView {
    let never = Signal::derive(|| false);
    let (documents, errors): (Vec<_>, Vec<_>) = KINDS
        .into_iter()
        .map(|(kind, title, below)| {
            let project = name.clone();
            let counted = refresh(super::EVERY, never, move || {
                let project = project.clone();
                async move { projects::count(&project, kind).await }
            });
            let text = Signal::derive(move || counted.newest().get().map(documents));
            (figure(title, address::project(&name, below), text), counted.error())
        })
        .unzip();
    let project = name.clone();
    let facets = refresh(super::EVERY, never, move || {
        let project = project.clone();
        async move { projects::conversations(&project).await }
    });
    let count_of = move |of: fn(&ConversationFacets) -> u64| {
        Signal::derive(move || facets.newest().read().as_ref().map(|facets| whole(of(facets))))
    };
    let href = address::project(&name, "/conversations");
    let error = Signal::derive(move || errors.iter().chain([&facets.error()]).find_map(Signal::get));
    view! {
        <Stale error />
        <dl class="figures">
            {figure("Conversations", href.clone(), count_of(|facets| facets.total))}
            {figure("Accepted", format!("{href}?outcome=accepted"), count_of(accepted))}
            {documents}
        </dl>
    }
}

/// Where people go from here.
#[component]
pub fn Shortcuts(name: String) -> impl IntoView {
    let project = Project::here();
    let link = move |says: &'static str, below: &'static str, about: &'static str| {
        view! {
            <li>
                <A href=address::project(&name, below)>{says}</A>
                <span class="muted">{about}</span>
            </li>
        }
    };
    let of_admins = link.clone();
    view! {
        <nav aria-label="Next steps">
            <ul class="ways">
                {link("Look at conversations", "/conversations", "what was said and done, and how it was scored")}
                {link("Review", "/reviews", "rate, annotate and correct")}
                {link("Make a corpus", "/corpora", "select, balance, split")}
                {link("Download", "/exports", "JSONL, Parquet or preference pairs")}
                {link("Members", "/members", "who may do what here")}
                {link("Storage", "/storage", "what the project takes of the disk, and may take")}
                {move || project.may(Role::Admin).then(|| of_admins("Audit log", "/audit", "who changed what"))}
                {Session::here().is_administrator().then(|| view! {
                    <li>
                        <A href="/projects">"Projects"</A>
                        <span class="muted">"list all, or add one"</span>
                    </li>
                })}
            </ul>
        </nav>
    }
}

fn figure(name: &'static str, href: String, text: Signal<Option<String>>) -> impl IntoView {
    view! {
        <div>
            <dt>
                <A href>{name}</A>
            </dt>
            <dd class="figure">{move || text.get().unwrap_or_else(|| "–".to_owned())}</dd>
        </div>
    }
}

fn documents(count: Count) -> String {
    let n = i64::try_from(count.at_least).unwrap_or(i64::MAX);
    if count.more { format!("{}+", format::count(n)) } else { format::count(n) }
}

fn accepted(facets: &ConversationFacets) -> u64 {
    let outcomes = facets.facet(Dimension::Outcome).into_iter().flat_map(|facet| &facet.values);
    outcomes.filter(|value| value.value == "accepted").map(|value| value.count).sum()
}

fn whole(n: u64) -> String {
    format::count(i64::try_from(n).unwrap_or(i64::MAX))
}
