//! The groups of a run: what has the same start, how its rewards are spread, and each sample.

use std::collections::BTreeSet;

use domain::access::Role;
use domain::api::groups::{GroupParams, GroupSample, GroupsSummary, RunGroup};
use domain::filter::Status;
use leptos::prelude::*;
use leptos_router::components::A;

use super::LiveRun;
use super::yields::Bar;
use ui::components::{Badge, PagedList, refresh};
use ui::labels::{self, Tone};
use ui::session::Project;
use ui::{address, api_client, format};

/// All groups are looked at for an answer.
const EVERY: std::time::Duration = std::time::Duration::from_secs(15);
/// Scenarios that are shown of the summary.
const HARDEST: usize = 10;

/// Solve rates from which most is learned, for the next run.
const LEARNABLE: (f64, f64) = (0.1, 0.9);

/// Which groups are listed.
const CHOICES: [(&str, &str); 3] = [
    ("", "All groups"),
    ("false", "Groups whose rewards differ, or may still differ"),
    ("true", "Groups whose rewards are all the same, or that have none"),
];

#[component]
pub fn RunGroups(followed: LiveRun) -> impl IntoView {
    let summary = refresh(EVERY, followed.live, move || {
        let id = followed.id();
        async move { api_client::runs::groups_summary(&id).await }
    });
    let figures = summary.show("the groups", move |summary| view! { <Figures summary run=followed.id() /> });
    let dead = RwSignal::new(String::new());
    let list = move || {
        let dead = dead.read().parse().ok();
        let load = move |after: Option<String>| {
            let (id, params) = (followed.id(), GroupParams { after, dead, ..GroupParams::default() });
            async move { api_client::runs::groups(&id, &params).await }
        };
        let empty = || view! { <p class="muted">"No groups."</p> };
        view! {
            <PagedList what="groups" load empty let:rows>
                <ul class="groups">
                    <For
                        each=move || rows.get()
                        key=|group| group.samples.first().map(|sample| sample.position)
                        let:group
                    >
                        <Group group />
                    </For>
                </ul>
            </PagedList>
        }
    };
    let choices = CHOICES.map(|(value, text)| view! { <option value=value>{text}</option> });
    view! {
        <h2>"Groups"</h2>
        <p class="muted hint">
            "A group is what has the same start: one user, one world, the same faults. Its samples differ in what the agent does. The reward is 1 if every check of the verifier holds, else 0; a sample that somebody else than the agent spoiled has none."
        </p>
        {figures}
        <label class="inline">
            "Show "
            <select on:change:target=move |event| dead.set(event.target().value())>
                {choices.into_iter().collect_view()}
            </select>
        </label>
        {list}
    }
}

#[component]
fn Figures(summary: Signal<GroupsSummary>, run: String) -> impl IntoView {
    let of = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let number = move |of_summary: fn(&GroupsSummary) -> usize| move || format::count(of(of_summary(&summary.read())));
    let rate = move || summary.read().solve_rate.map_or_else(|| "–".to_owned(), format::percent);
    let bars = (0..10).map(|tenth| {
        let name = format!("{} to {} %", tenth * 10, tenth * 10 + 10);
        let n = Signal::derive(move || of(summary.read().spread[tenth]));
        let all = Signal::derive(move || of(summary.read().spread.iter().sum()));
        view! { <Bar name n all /> }
    });
    let hardest = move || {
        let rows = summary.read().scenarios.iter().take(HARDEST).cloned().collect::<Vec<_>>();
        let row = |row: domain::api::groups::ScenarioSolveRate| {
            view! {
                <tr>
                    <th scope="row" dir="auto">
                        {row.scenario}
                    </th>
                    <td class="number">{format::percent(row.solve_rate)}</td>
                    <td class="number">{format!("{} of {}", format::count(of(row.solved)), format::count(of(row.scored)))}</td>
                </tr>
            }
        };
        rows.into_iter().map(row).collect_view()
    };
    let project = Project::here();
    let (from, to) = LEARNABLE;
    let query = format!("?solved_in={run}&solved_from={from}&solved_to={to}");
    let again = move || {
        let href = address::project(&project.name(), &format!("/runs/new{query}"));
        project.may(Role::Runner).then(|| view! { <p><A href>"Play the scenarios that were solved sometimes"</A></p> })
    };
    view! {
        <section class="panel" aria-labelledby="group-figures">
            <h3 id="group-figures">"Solve rates"</h3>
            <dl class="pairs">
                <div>
                    <dt>"Groups"</dt>
                    <dd>{number(|summary| summary.groups)}</dd>
                </div>
                <div>
                    <dt>"Finished"</dt>
                    <dd>{number(|summary| summary.finished)}</dd>
                </div>
                <div>
                    <dt>"Rewards all the same, or none"</dt>
                    <dd>{number(|summary| summary.dead)}</dd>
                </div>
                <div>
                    <dt>"Samples without a reward"</dt>
                    <dd>{number(|summary| summary.unscored)}</dd>
                </div>
                <div>
                    <dt>"Mean reward"</dt>
                    <dd>{rate}</dd>
                </div>
            </dl>
            <h4>"Finished groups, by solve rate"</h4>
            <dl class="bars">{bars.collect_view()}</dl>
            {again}
            <h4>"Hardest scenarios"</h4>
            <div class="scroll-x" tabindex="0" role="region" aria-label="Hardest scenarios">
                <table class="grid">
                    <thead>
                        <tr>
                            <th scope="col">"Scenario"</th>
                            <th scope="col" class="number">
                                "Solve rate"
                            </th>
                            <th scope="col" class="number">
                                "Solved"
                            </th>
                        </tr>
                    </thead>
                    <tbody>{hardest}</tbody>
                </table>
            </div>
        </section>
    }
}

#[component]
fn Group(group: RunGroup) -> impl IntoView {
    let rate = match group.solve_rate {
        Some(rate) => format!("{} solved", format::percent(rate)),
        None if group.dead => "no rewards".to_owned(),
        None => "no rewards yet".to_owned(),
    };
    let note = match (group.dead, group.scored) {
        (true, 0) => Some(spoiled(&group.samples)),
        (true, _) => Some("all the same".to_owned()),
        (false, _) => None,
    };
    // Of a single reward there is no deviation.
    let deviation = group.reward_std.filter(|_| group.scored > 1);
    let deviation = deviation.map(|deviation| format!("standard deviation of the rewards {deviation:.2}"));
    let compare = best_and_worst(&group.samples).map(|(best, worst)| {
        let project = Project::here();
        let href = address::project(&project.name(), &format!("/compare/{best}/{worst}"));
        view! { <A href>"Compare the best with the worst"</A> }
    });
    view! {
        <li class="panel">
            <div class="badges">
                <strong dir="auto">{group.scenario.clone()}</strong>
                <span class="muted">{format!("group {} · {}", group.group, group.persona)}</span>
                <Badge tone=if group.dead { Tone::Notable } else { Tone::Neutral } text=rate />
                {note.map(|note| view! { <span class="muted">{note}</span> })}
                {deviation.map(|deviation| view! { <span class="muted">{deviation}</span> })}
            </div>
            <ul class="samples">
                {group.samples.into_iter().map(|sample| view! { <Sample sample /> }).collect_view()}
            </ul>
            {compare}
        </li>
    }
}

/// Why a group has no rewards although all its samples have ended.
fn spoiled(samples: &[GroupSample]) -> String {
    let blamed: BTreeSet<String> =
        samples.iter().filter_map(|sample| sample.blame).map(|blame| labels::words(blame.into_str())).collect();
    let blamed: Vec<String> = blamed.into_iter().collect();
    format!("All samples failed through no fault of the agent. To blame: {}.", blamed.join(", "))
}

/// A sample with a reward of 1 and one with 0: of the former the best that judges saw, of the latter the worst.
fn best_and_worst(samples: &[GroupSample]) -> Option<(String, String)> {
    let of = |reward: u8| samples.iter().filter(move |sample| sample.reward == Some(reward));
    let best = of(1).max_by_key(|sample| sample.overall)?;
    let worst = of(0).min_by_key(|sample| sample.overall)?;
    Some((best.conversation.clone(), worst.conversation.clone()))
}

#[component]
fn Sample(sample: GroupSample) -> impl IntoView {
    let (class, text) = match (sample.status, sample.reward) {
        (Status::Unfinished, _) => ("sample", "…".to_owned()),
        (_, Some(1)) => ("sample good", "1".to_owned()),
        (_, Some(_)) => ("sample bad", "0".to_owned()),
        (_, None) => ("sample", "–".to_owned()),
    };
    let says = match (sample.status, sample.reward, sample.blame) {
        (Status::Unfinished, ..) => "It is being played.".to_owned(),
        (_, Some(reward), _) => format!("Reward {reward}."),
        (_, None, Some(blame)) => format!("No reward: to blame is the {}.", labels::words(blame.into_str())),
        (_, None, None) => "No reward.".to_owned(),
    };
    let href = address::project(&Project::here().name(), &format!("/conversations/{}", sample.conversation));
    view! {
        <li>
            <A href {..} class=class title=says.clone() aria-label=format!("Conversation {}: {says}", sample.position)>
                {text}
            </A>
        </li>
    }
}
