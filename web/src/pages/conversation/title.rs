//! What the conversation is, and what became of it.

use domain::api::{ConversationDetail, ConversationSummary};
use domain::outcome::Outcome;
use domain::project::Kind;
use leptos::prelude::*;

use super::branch::BranchOf;
use ui::components::{Badge, LongText, copy};
use ui::keys::use_shortcut;
use ui::session::Project;
use ui::{address, labels};

#[component]
pub fn Title(detail: Signal<ConversationDetail>) -> impl IntoView {
    let outcome = Memo::new(move |_| labels::outcome(&detail.read().summary));
    let reason = Memo::new(move |_| match &detail.read().summary.outcome {
        Some(Outcome::Failed { reason, .. }) => Some(reason.clone()),
        Some(Outcome::Accepted) | None => None,
    });
    let played = Memo::new(move |_| detail.read().summary.finished_at.is_some());
    let (run, branch_of) = detail.with_untracked(|detail| (detail.run_id.clone(), detail.branch_of.clone()));
    let ConversationSummary { scenario, position, persona, complexity, .. } = detail.read_untracked().summary.clone();
    let project = Project::here().name();
    let at = |kind, name: &str| address::document(&project, kind, name);
    let (scenario_at, persona_at) = (at(Kind::Scenario, &scenario), at(Kind::Persona, &persona));
    let link = || copy(window().location().href().unwrap_or_default());
    use_shortcut("y", "Copy a link to this place", link);
    view! {
        <header class="title">
            <h1 dir="auto">
                <a href=scenario_at>{scenario}</a>
            </h1>
            <p class="muted">
                {format!("Conversation {} of its run, played by ", i64::from(position) + 1)} <a href=persona_at>{persona}</a>
                {format!(", {} turns.", labels::words(&complexity))}
            </p>
            <div class="verdict">
                {move || {
                    let (tone, text) = outcome.get();
                    view! { <Badge tone text /> }
                }}
                {move || reason.get().map(|reason| view! { <LongText text=reason /> })}
                <button type="button" class="small" title="y" on:click=move |_| link()>
                    "Copy link"
                </button>
            </div>
            {branch_of.map(|origin| view! { <BranchOf origin run played /> })}
        </header>
    }
}
