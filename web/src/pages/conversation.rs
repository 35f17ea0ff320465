//! One conversation: what was said and done, and how it was scored.

use domain::api::{ConversationDetail, ConversationSummary};
use domain::outcome::Outcome;
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use crate::app::set_title;
use crate::components::{BackToRun, Badge, Failure, Loading, Models, Scores, Transcript, Verified};
use crate::{api_client, labels};

#[component]
pub fn ConversationPage() -> impl IntoView {
    set_title("Conversation");
    let params = use_params_map();
    let conversation = LocalResource::new(move || {
        let id = params.read().get("id").unwrap_or_default();
        async move { api_client::conversation(&id).await }
    });
    let retry = move || {
        conversation.set(None);
        conversation.refetch();
    };
    view! {
        <BackToRun />
        {move || match conversation.get() {
            None => view! { <Loading what="the conversation" /> }.into_any(),
            Some(Ok(detail)) => view! { <Conversation detail /> }.into_any(),
            Some(Err(error)) => {
                view! {
                    <h1>"Conversation"</h1>
                    <Failure error retry />
                }
                    .into_any()
            }
        }}
    }
}

#[component]
fn Conversation(detail: ConversationDetail) -> impl IntoView {
    let ConversationDetail { summary, models, events, verdict, verification, .. } = detail;
    set_title(&summary.scenario);
    let played = summary.outcome.is_some();
    view! {
        <Title summary />
        <div class="columns">
            <Transcript events />
            <div class="side">
                <Scores verdict played />
                <Verified verification played />
                <Models models />
            </div>
        </div>
    }
}

#[component]
fn Title(summary: ConversationSummary) -> impl IntoView {
    let (tone, outcome) = labels::outcome(&summary);
    let reason = match summary.outcome {
        Some(Outcome::Failed { reason, .. }) => Some(reason),
        Some(Outcome::Accepted) | None => None,
    };
    view! {
        <header class="title">
            <h1>{summary.scenario}</h1>
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
                {reason.map(|reason| view! { <span class="text">{reason}</span> })}
            </p>
        </header>
    }
}
