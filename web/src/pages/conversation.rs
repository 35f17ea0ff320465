//! One conversation: what was said and done, and how it was scored.

use domain::api::{ConversationDetail, ConversationSummary};
use domain::outcome::Outcome;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::{Redirect, Route};
use leptos_router::hooks::use_params_map;
use leptos_router::path;

use crate::app::set_title;
use crate::components::{Badge, Crumbs, Fetched, Models, Scores, Transcript, Verified};
use crate::session::Project;
use crate::{address, api_client, labels};

#[component(transparent)]
pub fn ConversationRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! { <Route path=path!("/conversations/:conversation") view=ConversationPage /> }.into_inner()
}

#[component]
fn ConversationPage() -> impl IntoView {
    set_title("Conversation");
    let params = use_params_map();
    let load = move || {
        let id = params.read().get("conversation").unwrap_or_default();
        async move { api_client::conversations::one(&id).await }
    };
    view! {
        <Fetched what="the conversation" load let:detail>
            <Conversation detail />
        </Fetched>
    }
}

/// A conversation's address without its project, as it stands on sheets that people rate: leads to the other one.
#[component]
pub fn ConversationLink() -> impl IntoView {
    set_title("Conversation");
    let params = use_params_map();
    let load = move || {
        let id = params.read().get("conversation").unwrap_or_default();
        async move { api_client::conversations::one(&id).await }
    };
    view! {
        <Fetched what="the conversation" load let:detail>
            <Redirect
                path=address::conversation(&detail.project, &detail.summary.id)
                options=NavigateOptions { replace: true, ..NavigateOptions::default() }
            />
        </Fetched>
    }
}

#[component]
fn Conversation(detail: ConversationDetail) -> impl IntoView {
    let ConversationDetail { summary, run_id, models, events, verdict, verification, .. } = detail;
    set_title(&summary.scenario);
    let played = summary.outcome.is_some();
    let project = Project::here().name();
    let above = vec![
        ("Runs".to_owned(), address::project(&project, "/runs")),
        ("Run".to_owned(), address::run(&project, &run_id)),
    ];
    view! {
        <Crumbs above />
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
