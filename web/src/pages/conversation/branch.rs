//! Going on differently from a turn: with another model, or with other words; and the way between both, and to the pair
//! that they are.

use domain::access::Role;
use domain::api::{BranchOrigin, BranchSummary};
use domain::export::Profile;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;
use serde_json::json;

use super::notes::Notes;
use crate::components::{Badge, Fetched, FirstRows, Labelled, MoreRows, Problems, Refused, Send, failed, send};
use crate::labels::Tone;
use crate::session::Project;
use crate::{address, api_client, format};

/// Whose turn is said differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    Agent,
    User,
}

impl Whose {
    /// What the field for other words is called, and what becomes of it left empty.
    const fn says(self) -> (&'static str, &'static str) {
        match self {
            Self::Agent => ("What the agent says here instead", "Left empty, the chosen model says it."),
            Self::User => (
                "What the user says here instead",
                "Left empty, whoever played the user says it anew, and the chosen model is the agent after it.",
            ),
        }
    }
}

/// The form at a turn of the agent or of the user.
#[component]
pub fn Branch(
    /// The turn's event.
    seq: u32,
    whose: Whose,
    notes: Notes,
    close: Callback<()>,
) -> impl IntoView {
    let (label, hint) = whose.says();
    let (model, content) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let (busy, problems) = (RwSignal::new(false), Problems::default());
    let models = LocalResource::new(api_client::models::list);
    let (project, navigate) = (Project::here(), use_navigate());
    let submit = move |event: leptos::ev::SubmitEvent| {
        let mut body = json!({"seq": seq});
        for (name, text) in [("model", model.get_untracked()), ("content", content.get_untracked())] {
            if !text.trim().is_empty() {
                body[name] = text.into();
            }
        }
        let (navigate, project) = (navigate.clone(), project.name());
        let ask = async move { api_client::branches::add(&notes.conversation(), &body).await };
        let show = move |made: BranchSummary| {
            navigate(&address::conversation(&project, &made.conversation), NavigateOptions::default());
        };
        send(&event, busy, problems, ask, show);
    };
    let names = move || {
        let known = models.get().and_then(Result::ok).unwrap_or_default();
        known
            .into_iter()
            .map(|model| view! { <option value=model.name.clone()>{model.name.clone()}</option> })
            .collect_view()
    };
    view! {
        <form class="panel turn-form" aria-label="Branch" on:submit=submit>
            <p class="muted">
                "All that was said before is kept. From here on the conversation is played again, as a run of its own, and \
                 both are a preference pair if one comes to a better end."
            </p>
            <Refused why=problems />
            <Labelled label="Agent from here on" wrong=problems.at("/model")>
                <select bind:value=model>
                    <option value="">"The run's own"</option>
                    <option value="scripted">"scripted: the scenario's script, no model"</option>
                    {names}
                </select>
            </Labelled>
            {failed(models)}
            <Labelled
                label
                hint
                wrong=problems.at("/content")
            >
                <textarea rows="4" dir="auto" bind:value=content></textarea>
            </Labelled>
            <div class="inline">
                <Send label="Branch from here" busy />
                <button type="button" on:click=move |_| close.run(())>
                    "Cancel"
                </button>
            </div>
        </form>
    }
}

/// Those that there are.
#[component]
pub fn Branches(conversation: String) -> impl IntoView {
    let load = move || {
        let id = conversation.clone();
        async move { api_client::branches::of(&id).await }
    };
    view! {
        <Fetched what="the branches" load let:branches>
            {if branches.is_empty() {
                view! { <p class="muted">"None. Turns of the agent and of the user can be branched in the transcript."</p> }.into_any()
            } else {
                view! { <List branches /> }.into_any()
            }}
        </Fetched>
    }
}

#[component]
fn List(branches: Vec<BranchSummary>) -> impl IntoView {
    let (first, all) = (FirstRows::new(), branches.len());
    let shown = move || first.of(branches.iter().cloned());
    view! {
        <ul class="branches">
            <For each=shown key=|branch| branch.conversation.clone() let:branch>
                <Row branch />
            </For>
        </ul>
        <MoreRows first all=Signal::stored(all) />
    }
}

#[component]
fn Row(branch: BranchSummary) -> impl IntoView {
    let BranchSummary { conversation, run, seq, edited_by, outcome, created_at } = branch;
    let pair = outcome.is_some().then(|| view! { <Pair run /> });
    let (tone, outcome) = match outcome.as_deref() {
        Some("accepted") => (Tone::Good, "accepted"),
        Some(_) => (Tone::Bad, "failed"),
        None => (Tone::Neutral, "playing"),
    };
    let href = address::conversation(&Project::here().name(), &conversation);
    view! {
        <li>
            <A href>{format!("From #{seq}, {}", who(edited_by))}</A>
            " "
            <Badge tone text=outcome />
            " "
            <time class="muted" datetime=created_at.to_rfc3339()>
                {format::time(created_at)}
            </time>
            " "
            {pair}
        </li>
    }
}

/// Of a branch: the way back.
#[component]
pub fn BranchOf(
    origin: BranchOrigin,
    /// The branch's own.
    run: String,
    /// Whether the branch has come to its end.
    played: Memo<bool>,
) -> impl IntoView {
    let BranchOrigin { conversation, seq, edited_by } = origin;
    let href = format!("{}?turn={seq}", address::conversation(&Project::here().name(), &conversation));
    view! {
        <p class="inline">
            <span>{format!("A branch, {}.", who(edited_by))}</span>
            <A href>{format!("To its origin, where they part (#{seq})")}</A>
            {move || played.get().then(|| view! { <Pair run=run.clone() /> })}
        </p>
    }
}

/// Pairs of a branch's run are those of the branch and its origin.
#[component]
fn Pair(run: String) -> impl IntoView {
    let project = Project::here();
    let below = format!("/exports/new?run={}&profile={}", address::segment(&run), Profile::TrlDpo);
    let href = address::project(&project.name(), &below);
    project.may(Role::Runner).then(|| view! { <A href>"Export as a preference pair"</A> })
}

fn who(edited_by: Option<String>) -> String {
    edited_by.map_or_else(|| "by a model".to_owned(), |name| format!("written by {name}"))
}
