//! One conversation: what was said and done, what the world was meanwhile, how it was scored, and what people say of it.

mod annotate;
mod branch;
mod compare;
mod correct;
mod correction_draft;
mod cursor;
mod drafts;
mod form_keys;
mod live;
mod neighbours;
mod notes;
mod people;
mod raw;
mod remarks;
mod reward;
mod title;
mod turn_actions;
mod verdicts;
mod world;

use domain::api::ConversationDetail;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::{Outlet, ParentRoute, Redirect, Route};
use leptos_router::path;

use compare::ComparePage;
use live::{LiveConversation, followed};
use neighbours::Neighbours;
use people::People;
use raw::Raw;
use reward::Reward;
use title::Title;
use ui::components::{
    AsyncView, Crumbs, Models, Scores, Stale, Tabs, Transcript, TranscriptExtras, VerificationList, set_title, use_tab,
};
use ui::keys::use_shortcut;
use ui::parts::{pages, part};
use ui::session::Project;
use ui::transcript;
use ui::{address, api_client};
use verdicts::Verdicts;
use world::WorldPanel;

pub use cursor::Cursor;
pub use notes::Notes;
pub use turn_actions::TurnActions;

pages! {
    conversation:
    conversation() => ConversationPage(),
    compare() => ComparePage(),
}

#[component(transparent)]
pub fn ConversationRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/conversations/:conversation") view=|| part(conversation) />
            <Route path=path!("/compare/:left/:right") view=|| part(compare) />
        </ParentRoute>
    }
    .into_inner()
}

#[component]
fn ConversationPage() -> impl IntoView {
    set_title("Conversation");
    let id = address::use_id("conversation");
    let load = move || {
        let id = id.get();
        async move { api_client::conversations::one(&id).await }
    };
    view! {
        <AsyncView what="the conversation" load let:detail>
            <Conversation detail />
        </AsyncView>
    }
}

/// A conversation's address without its project, as it stands on sheets that people rate: leads to the other one.
#[component]
pub fn ConversationLink() -> impl IntoView {
    set_title("Conversation");
    let id = address::use_id("conversation");
    let load = move || {
        let id = id.get();
        async move { api_client::conversations::one(&id).await }
    };
    view! {
        <AsyncView what="the conversation" load let:detail>
            <Redirect
                path=address::conversation(&detail.project, &detail.summary.id)
                options=NavigateOptions { replace: true, ..NavigateOptions::default() }
            />
        </AsyncView>
    }
}

const PANELS: [&str; 4] = ["verdict", "world", "people", "raw"];
const TABS: [(&str, &str); 4] = [("verdict", "Verdict"), ("world", "World"), ("people", "Review"), ("raw", "Raw JSON")];

#[component]
fn Conversation(detail: ConversationDetail) -> impl IntoView {
    set_title(&detail.summary.scenario);
    let project = Project::here().name();
    let above = vec![
        ("Runs".to_owned(), address::project(&project, "/runs")),
        ("Run".to_owned(), address::run(&project, &detail.run_id)),
    ];
    let id = detail.summary.id.clone();
    let LiveConversation { detail, lost, again } = followed(detail);
    let over = Memo::new(move |_| detail.read().summary.finished_at.is_some());
    let turns = Memo::new(move |_| transcript::turns(detail.read().events.clone()));
    let cursor = Cursor::over(turns.into());
    let notes = Notes::load(id.clone());
    // What is said meanwhile can be corrected, too.
    Effect::new(move |before: Option<usize>| {
        let now = turns.read().len();
        if before.is_some_and(|before| before != now) {
            notes.read_again();
        }
        now
    });
    let below = Callback::new(move |place| view! { <TurnActions place cursor notes /> }.into_any());
    let beside = TranscriptExtras { chosen: cursor.chosen().into(), below: Some(below) };
    let (panel, choose) = use_tab("panel", &PANELS);
    for (keys, name, does) in [
        ("t v", "verdict", "Show the verdict"),
        ("t w", "world", "Show the world"),
        ("t p", "people", "Show the reviews"),
        ("t r", "raw", "Show the raw JSON"),
    ] {
        use_shortcut(keys, does, move || choose.run(name));
    }
    view! {
        <div class="above">
            <Crumbs above />
            <Neighbours conversation=id.clone() />
        </div>
        <Title detail />
        <Stale error=lost />
        <div class="columns">
            <Transcript turns=turns.into() beside />
            <div class="side" tabindex="0" role="region" aria-label="About the conversation">
                <Tabs label="About the conversation" tabs=&TABS chosen=panel choose />
                <section role="tabpanel" class="stack" id=move || format!("panel-{}", panel.get()) aria-labelledby=move || format!("tab-{}", panel.get())>
                    {move || match panel.get() {
                        "world" => view! { <WorldPanel detail cursor /> }.into_any(),
                        "people" => view! { <People conversation=id.clone() over cursor notes again /> }.into_any(),
                        "raw" => view! { <Raw detail /> }.into_any(),
                        _ => view! { <Judgement detail /> }.into_any(),
                    }}
                </section>
            </div>
        </div>
    }
}

/// What programs and models say of it, and who played it.
#[component]
fn Judgement(detail: Signal<ConversationDetail>) -> impl IntoView {
    let conversation = detail.read_untracked().summary.id.clone();
    let played = Memo::new(move |_| detail.read().summary.outcome.is_some());
    let verdict = Memo::new(move |_| detail.read().verdict.clone());
    let verification = Memo::new(move |_| detail.read().verification.clone());
    let models = Memo::new(move |_| detail.read().models.clone());
    let hidden = move || {
        (!played.get() && detail.read().summary.finished_at.is_some()).then(|| {
            view! {
                <p class="muted">
                    "If it is in a blind review queue, you see its verdict after you have rated it."
                </p>
            }
        })
    };
    view! {
        {hidden}
        {move || view! { <Scores verdict=verdict.get() played=played.get() /> }}
        {move || view! { <VerificationList verification=verification.get() played=played.get() /> }}
        <Reward detail />
        {move || view! { <Models models=models.get() /> }}
        <Verdicts conversation played />
    }
}
