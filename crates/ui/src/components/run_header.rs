//! A run in one strip. Each figure changes in its place while the run goes on.

use domain::api::{RunState, RunSummary};
use leptos::prelude::*;

use crate::components::Badge;
use crate::format;
use crate::labels::Tone;

#[component]
pub fn RunHeader(run: RwSignal<RunSummary>) -> impl IntoView {
    let of = if run.read_untracked().plays_rows() { "Workflow" } else { "Playbook" };
    let RunSummary { playbook, seed, created_at, .. } = run.get_untracked();
    let state = Memo::new(move |_| run.read().state);
    let because =
        Memo::new(move |_| run.read().paused_because.clone().filter(|_| run.read().state == RunState::Paused));
    let failed = move || format::count(run.read().failures.values().sum());
    view! {
        <dl class="strip">
            <div>
                <dt>"State"</dt>
                <dd>
                    {move || {
                        let (tone, text) = state_badge(state.get());
                        view! { <Badge tone text /> }
                    }}
                    {move || because.get().map(|why| view! { <span class="muted text">{format!(" {why}")}</span> })}
                </dd>
            </div>
            <div>
                <dt>{of}</dt>
                <dd>{playbook}</dd>
            </div>
            <div>
                <dt>"Seed"</dt>
                <dd>{seed}</dd>
            </div>
            <div>
                <dt>"Created"</dt>
                <dd>
                    <time datetime=created_at.to_rfc3339()>{format::time(created_at)}</time>
                </dd>
            </div>
            <div>
                <dt>"Finished"</dt>
                <dd>
                    {move || {
                        let run = run.read();
                        format!("{} of {}", format::count(run.finished), format::count(run.planned))
                    }}
                </dd>
            </div>
            <div>
                <dt>"Accepted"</dt>
                <dd>{move || format::count(run.read().accepted)}</dd>
            </div>
            <div>
                <dt>"Failed"</dt>
                <dd>{failed}</dd>
            </div>
            <div>
                <dt>"Priority"</dt>
                <dd>{move || run.read().priority}</dd>
            </div>
        </dl>
    }
}

pub const fn state_badge(state: RunState) -> (Tone, &'static str) {
    let tone = match state {
        RunState::Running => Tone::Good,
        RunState::Paused => Tone::Notable,
        RunState::Finished | RunState::Cancelled => Tone::Neutral,
    };
    (tone, state.into_str())
}
