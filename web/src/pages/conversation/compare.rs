//! Two conversations with the same start, side by side from the turn at which they part.

use domain::api::ConversationDetail;
use leptos::prelude::*;
use leptos_router::components::A;

use ui::components::{AsyncView, Badge, Crumbs, TranscriptExtras, Turns, set_title};
use ui::session::Project;
use ui::transcript::{self, Turn};
use ui::{address, api_client, format, labels};

#[component]
pub fn ComparePage() -> impl IntoView {
    set_title("Compare conversations");
    let (left, right) = (address::use_id("left"), address::use_id("right"));
    let load = move || {
        let (left, right) = (left.get(), right.get());
        async move {
            let left = api_client::conversations::one(&left).await?;
            Ok((left, api_client::conversations::one(&right).await?))
        }
    };
    view! {
        <AsyncView what="the conversations" load let:both>
            <Comparison left=both.0 right=both.1 />
        </AsyncView>
    }
}

#[component]
fn Comparison(left: ConversationDetail, right: ConversationDetail) -> impl IntoView {
    let project = Project::here().name();
    let run = format!("{}?tab=groups", address::run(&project, &left.run_id));
    let above = vec![("Runs".to_owned(), address::project(&project, "/runs")), ("Groups".to_owned(), run)];
    let [mut one, mut other] = [&left, &right].map(|detail| transcript::turns(detail.events.clone()));
    let common = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let (one, other, shared) = (one.split_off(common), other.split_off(common), one);
    let number = i64::try_from(common).unwrap_or(i64::MAX);
    let parts = match (common, one.is_empty() && other.is_empty()) {
        (_, true) => "Both are the same from the first turn to the last.".to_owned(),
        (0, false) => "They have no turn in common.".to_owned(),
        (1, false) => "They have the first turn in common, and part there.".to_owned(),
        (_, false) => format!("They have the first {} turns in common, and part there.", format::count(number)),
    };
    view! {
        <div class="above">
            <Crumbs above />
        </div>
        <h1 dir="auto">{left.summary.scenario.clone()}</h1>
        <p>{parts}</p>
        <Part title="In common" turns=shared />
        <div class="side-by-side">
            <Side detail=left turns=one />
            <Side detail=right turns=other />
        </div>
    }
}

#[component]
fn Part(title: &'static str, turns: Vec<Turn>) -> impl IntoView {
    (!turns.is_empty()).then(|| {
        view! {
            <section class="transcript" aria-label=title>
                <h2>{title}</h2>
                <Turns turns=Signal::stored(turns) beside=TranscriptExtras::default() />
            </section>
        }
    })
}

#[component]
fn Side(detail: ConversationDetail, turns: Vec<Turn>) -> impl IntoView {
    let summary = detail.summary;
    let title = format!("Conversation {}", format::count(i64::from(summary.position)));
    let label = title.clone();
    let (tone, outcome) = labels::outcome(&summary);
    let verified = match summary.verified {
        Some(true) => "every check holds",
        Some(false) => "a check fails",
        None => "not verified",
    };
    let none = turns.is_empty().then(|| view! { <p class="muted">"Nothing more."</p> });
    let reason = detail.verification.into_iter().flat_map(|verification| verification.items);
    let failed = reason.filter(|check| !check.passed).map(|check| view! { <li dir="auto">{check.detail}</li> });
    view! {
        <section class="transcript" aria-label=label>
            <h2>
                <A href=address::conversation(&detail.project, &summary.id)>{title}</A>
            </h2>
            <div class="badges">
                <Badge tone text=outcome />
                <span class="muted">{verified}</span>
            </div>
            <ul class="text">{failed.collect_view()}</ul>
            {none}
            <Turns turns=Signal::stored(turns) beside=TranscriptExtras::default() />
        </section>
    }
}
