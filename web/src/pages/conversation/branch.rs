//! Going on differently from a turn: with another model, or with other words; and the way between both, and to the pair
//! that they are.

use std::time::Duration;

use domain::access::Role;
use domain::api::{BranchOrigin, BranchSummary, NewBranch, RunState};
use domain::export::Profile;
use domain::role::Role as Speaker;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;

use super::drafts::Drafts;
use super::form_keys::press;
use super::notes::Notes;
use ui::components::{Badge, Changing, FirstRows, FormError, FormField, MoreRows, Problems, Send, failed, refresh};
use ui::labels::Tone;
use ui::session::Project;
use ui::{address, api_client, format};

/// How often is asked what became of branches that are still being played.
const EVERY: Duration = Duration::from_secs(3);

/// What the field for other words is called, and what becomes of it left empty.
const fn label_and_hint(whose: Speaker) -> (&'static str, &'static str) {
    match whose {
        Speaker::Agent => ("What the agent says here instead", "If empty, the chosen model writes it."),
        _ => (
            "What the user says here instead",
            "If empty, the user's model writes it again, and the chosen model plays the agent after it.",
        ),
    }
}

/// The form at a turn of the agent or of the user.
#[component]
pub fn BranchForm(
    /// The turn's event.
    seq: u32,
    /// Whose turn is said differently.
    whose: Speaker,
    notes: Notes,
    drafts: Drafts,
    close: Callback<()>,
) -> impl IntoView {
    let (label, hint) = label_and_hint(whose);
    let (model, content) = (drafts.model, drafts.content);
    let (making, problems) = (drafts.branching, Problems::default());
    let close = move || {
        if !drafts.is_sent() {
            close.run(());
        }
    };
    let models = LocalResource::new(api_client::models::list);
    let (project, navigate) = (Project::here(), use_navigate());
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let written = |text: RwSignal<String>| Some(text.get_untracked()).filter(|text| !text.trim().is_empty());
        let body = NewBranch { seq, model: written(model), content: written(content), ..NewBranch::default() };
        let (navigate, project) = (navigate.clone(), project.name());
        let ask = move |signal| async move { api_client::branches::add(&signal, &notes.conversation(), &body).await };
        let show = move |made: BranchSummary| {
            drafts.forget_branch();
            navigate(&address::conversation(&project, &made.conversation), NavigateOptions::default());
        };
        making.send(problems, ask, show);
    };
    let names = move || {
        let known = models.get().and_then(Result::ok).unwrap_or_default();
        known
            .into_iter()
            .map(|model| view! { <option value=model.name.clone()>{model.name.clone()}</option> })
            .collect_view()
    };
    view! {
        <form
            class="panel turn-form"
            aria-label="Branch"
            on:submit=submit
            on:keydown=move |event| press(&event, close)
        >
            <p class="muted">
                "Everything before this turn is kept. From here on the conversation is played again, as a run of its \
                 own. If one of the two scores higher, they are a preference pair."
            </p>
            <FormError why=problems />
            <FormField label="Agent from here on" wrong=problems.at("/model")>
                <select bind:value=model>
                    <option value="">"The run's own"</option>
                    <option value="scripted">"scripted: the scenario's script, no model"</option>
                    {names}
                </select>
            </FormField>
            {failed(models)}
            <FormField
                label
                hint
                wrong=problems.at("/content")
            >
                <textarea rows="4" dir="auto" bind:value=content></textarea>
            </FormField>
            <div class="inline">
                <Send label="Branch from here" busy=making.waits() />
                <Show when=move || !making.busy()>
                    <button
                        type="button"
                        on:click=move |_| {
                            drafts.forget_branch();
                            close();
                        }
                    >
                        "Cancel"
                    </button>
                </Show>
            </div>
            <Changing change=making what="Making the branch" />
        </form>
    }
}

/// Those that there are. They are asked for again while one of them is being played.
#[component]
pub fn Branches(conversation: String) -> impl IntoView {
    let playing = RwSignal::new(false);
    let branches = refresh(EVERY, playing.into(), move || {
        let id = conversation.clone();
        async move { api_client::branches::of(&id).await }
    });
    let newest = branches.newest();
    Effect::new(move |_| playing.set(newest.read().iter().flatten().any(BranchSummary::is_played)));
    branches.show("the branches", |branches| view! { <List branches /> })
}

#[component]
fn List(branches: Signal<Vec<BranchSummary>>) -> impl IntoView {
    let first = FirstRows::new();
    let none = Memo::new(move |_| branches.read().is_empty());
    let shown = move || first.of(branches.get());
    view! {
        <Show when=move || none.get()>
            <p class="muted">"No branches yet. Start one with the button below a turn in the transcript."</p>
        </Show>
        <ul class="branches">
            // A branch that was played is another row: it has come to an end, and is half of a pair.
            <For each=shown key=|branch| (branch.conversation.clone(), branch.outcome.clone(), branch.run_state.into_str()) let:branch>
                <Row branch />
            </For>
        </ul>
        <MoreRows first all=Signal::derive(move || branches.read().len()) />
    }
}

#[component]
fn Row(branch: BranchSummary) -> impl IntoView {
    let BranchSummary { conversation, run, run_state, seq, edited_by, outcome, created_at } = branch;
    let pair = outcome.is_some().then(|| view! { <Pair run /> });
    let (tone, outcome) = match outcome.as_deref() {
        Some("accepted") => (Tone::Good, "accepted"),
        Some(_) => (Tone::Bad, "failed"),
        None if run_state == RunState::Running => (Tone::Neutral, "playing"),
        None => (Tone::Neutral, run_state.into_str()),
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
            <A href>{format!("Go to the original conversation, at the turn where they differ (#{seq})")}</A>
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
