//! What the conversation is, and what became of it.

use domain::api::ConversationSummary;
use domain::outcome::Outcome;
use leptos::prelude::*;

use crate::components::{Badge, copy};
use crate::keys::use_shortcut;
use crate::labels;

#[component]
pub fn Title(summary: ConversationSummary) -> impl IntoView {
    let (tone, outcome) = labels::outcome(&summary);
    let reason = match summary.outcome {
        Some(Outcome::Failed { reason, .. }) => Some(reason),
        Some(Outcome::Accepted) | None => None,
    };
    let link = || copy(window().location().href().unwrap_or_default());
    use_shortcut("y", "Copy a link to this place", link);
    view! {
        <header class="title">
            <h1 dir="auto">{summary.scenario}</h1>
            <p class="muted">
                {format!(
                    "Conversation {} of its run, played by {}, {} turns.",
                    i64::from(summary.position) + 1,
                    summary.persona,
                    labels::words(&summary.complexity),
                )}
            </p>
            <p class="verdict">
                <Badge tone text=outcome />
                {reason.map(|reason| view! { <span class="text" dir="auto">{reason}</span> })}
                <button type="button" class="small" title="y" on:click=move |_| link()>
                    "Copy link"
                </button>
            </p>
        </header>
    }
}
