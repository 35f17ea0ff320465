//! The runs that hold the episodes of an environment, and what their rewards come to.

use std::time::Duration;

use domain::api::RunSummary;
use domain::api::groups::GroupsSummary;
use futures::future::try_join_all;
use leptos::prelude::*;
use leptos_router::components::A;

use ui::api_client::{self, Answer};
use ui::components::{Badge, refresh, state_badge};
use ui::session::Project;
use ui::{address, format};

/// All groups of a run are looked at for an answer.
const EVERY: Duration = Duration::from_secs(10);
/// Runs that are shown: each has the episodes from one state of the documents.
const SHOWN: usize = 5;
/// Pages of the project's runs in which they are looked for.
const MOST_PAGES: usize = 10;

/// The settings by which the runs of an environment are found: a run does not have the name of its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedAs {
    /// As a run names its playbooks.
    pub playbook: String,
    pub seed: i64,
}

impl PlayedAs {
    fn fits(&self, run: &RunSummary) -> bool {
        run.kind == "episodes" && run.playbook == self.playbook && run.seed == self.seed
    }
}

#[derive(Clone, PartialEq)]
struct EpisodeRun {
    run: RunSummary,
    groups: GroupsSummary,
}

#[component]
pub fn Episodes(of: PlayedAs) -> impl IntoView {
    let project = Project::here().0.get_untracked();
    let name = project.clone();
    let load = move || {
        let (project, of) = (name.clone(), of.clone());
        async move { runs(&project, &of).await }
    };
    let runs = refresh(EVERY, Signal::derive(|| true), load);
    let project = StoredValue::new(project);
    let table = runs.show("the episodes", move |runs: Signal<Vec<EpisodeRun>>| {
        move || {
            let all = runs.get();
            if all.is_empty() {
                return view! { <p class="muted">"No episodes yet. The lines above open the first one."</p> }
                    .into_any();
            }
            let rows = all.into_iter().map(move |one| view! { <Row project=project.get_value() one /> });
            view! { <Table>{rows.collect_view()}</Table> }.into_any()
        }
    });
    view! {
        <section class="panel" aria-labelledby="episodes">
            <h2 id="episodes">"Episodes"</h2>
            <p class="muted">
                "The newest runs of episodes with the playbooks and the seed of this environment. A change of a document or a \
                 setting begins another run."
            </p>
            {table}
        </section>
    }
}

/// The newest runs that fit.
async fn runs(project: &str, of: &PlayedAs) -> Answer<Vec<EpisodeRun>> {
    let (mut found, mut after) = (Vec::new(), None);
    for _ in 0..MOST_PAGES {
        let page = api_client::runs::list(project, after).await?;
        found.extend(page.items.into_iter().filter(|run| of.fits(run)));
        after = page.next;
        if found.len() >= SHOWN || after.is_none() {
            break;
        }
    }
    found.truncate(SHOWN);
    let groups = try_join_all(found.iter().map(|run| api_client::runs::groups_summary(&run.id))).await?;
    Ok(found.into_iter().zip(groups).map(|(run, groups)| EpisodeRun { run, groups }).collect())
}

#[component]
fn Table(children: Children) -> impl IntoView {
    view! {
        <table class="rows">
            <thead>
                <tr>
                    <th scope="col">"Run"</th>
                    <th scope="col">"State"</th>
                    <th scope="col">"Episodes"</th>
                    <th scope="col">"Rewards"</th>
                </tr>
            </thead>
            <tbody>{children()}</tbody>
        </table>
    }
}

#[component]
fn Row(project: String, one: EpisodeRun) -> impl IntoView {
    let EpisodeRun { run, groups } = one;
    let href = format!("{}?tab=groups", address::run(&project, &run.id));
    let (tone, state) = state_badge(run.state);
    let (open, ended) = (format::count(run.planned - run.finished), format::count(run.finished));
    view! {
        <tr>
            <td class="scenario">
                <A href>{format!("Run of {}", format::time(run.created_at))}</A>
            </td>
            <td>
                <Badge tone text=state />
            </td>
            <td>{format!("{open} open, {ended} ended")}</td>
            <td>{rewards(groups.solve_rate, groups.unscored)}</td>
        </tr>
    }
}

/// `unscored`: how many episodes have ended without a reward.
fn rewards(solve_rate: Option<f64>, unscored: usize) -> String {
    let solved = solve_rate.map(|rate| format!("{} solved", format::percent(rate)));
    let without =
        (unscored > 0).then(|| format!("{} without a reward", format::count(unscored.try_into().unwrap_or(i64::MAX))));
    let all: Vec<String> = solved.into_iter().chain(without).collect();
    if all.is_empty() { "–".to_owned() } else { all.join(", ") }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use domain::api::RunState;

    use super::*;

    fn run(kind: &str, playbook: &str, seed: i64) -> RunSummary {
        RunSummary {
            id: String::new(),
            kind: kind.to_owned(),
            playbook: playbook.to_owned(),
            seed,
            created_at: chrono::DateTime::default(),
            planned: 0,
            finished: 0,
            accepted: 0,
            failures: BTreeMap::new(),
            played_again: BTreeMap::new(),
            state: RunState::Running,
            paused_because: None,
            priority: 0,
            started_at: None,
            finished_at: None,
            usage: Vec::new(),
        }
    }

    #[test]
    fn runs_of_other_playbooks_seeds_and_kinds_do_not_fit() {
        let of = PlayedAs { playbook: "cards, bank".to_owned(), seed: 7 };
        let fits = |kind, playbook, seed| of.fits(&run(kind, playbook, seed));
        assert!(fits("episodes", "cards, bank", 7));
        assert!(!fits("conversations", "cards, bank", 7));
        assert!(!fits("episodes", "cards", 7));
        assert!(!fits("episodes", "cards, bank", 1));
    }

    #[test]
    fn rewards_are_told_as_far_as_there_are_some() {
        let told =
            [(None, 0), (None, 2), (Some(0.5), 0), (Some(0.0), 1)].map(|(rate, unscored)| rewards(rate, unscored));
        assert_eq!(told, ["–", "2 without a reward", "50 % solved", "0 % solved, 1 without a reward"]);
    }
}
