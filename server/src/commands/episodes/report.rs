//! The report of a trial: for people, and as JSON for programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use domain::Problem;
use domain::api::episodes::{Episode, EpisodeResult};
use domain::reward::{GroupRewards, SolveRate};
use serde::Serialize;

/// Failures that are shown of each kind.
const MOST_REASONS: usize = 10;

/// All that was tried.
#[derive(Default)]
pub struct Trial {
    pub episodes: Vec<TriedEpisode>,
    /// For each episode that could not be played, why.
    pub unplayed: Vec<String>,
    pub is_interrupted: bool,
    /// Why nothing more could be tried.
    pub problems: Vec<Problem>,
}

/// An episode that the command has played.
#[derive(Serialize)]
pub struct TriedEpisode {
    id: String,
    run: String,
    scenario: String,
    group: i32,
    /// As the API shows it; null if it could not be verified.
    result: Option<EpisodeResult>,
    /// Why the command did not come to a good end.
    trouble: Option<String>,
}

impl Trial {
    pub fn is_empty(&self) -> bool {
        self.episodes.is_empty() && self.unplayed.is_empty()
    }

    /// Whether something else than the agent's skill decided what is reported: an episode could not be played, none has a reward, or
    /// no command came to a good end.
    pub fn is_spoiled(&self) -> bool {
        let no_rewards = self.episodes.iter().all(|episode| episode.reward().is_none());
        let no_agents = self.episodes.iter().all(|episode| episode.trouble.is_some());
        !self.unplayed.is_empty() || no_rewards || no_agents
    }
}

impl TriedEpisode {
    pub fn new(episode: Episode, trouble: Option<String>) -> Self {
        let Episode { id, run, scenario, group, result, .. } = episode;
        Self { id, run, scenario, group, result, trouble }
    }

    fn reward(&self) -> Option<u8> {
        self.result.as_ref().and_then(|result| result.reward)
    }

    /// Why the reward is not 1.
    fn reason(&self) -> Option<String> {
        let result = self.result.as_ref()?;
        let failed = result.checks.iter().find(|check| !check.passed).map(|check| check.detail.clone());
        if self.reward() == Some(1) { None } else { failed.or_else(|| result.reason.clone()) }
    }

    /// What is shown beside the reward: what became of the command comes before what followed from it.
    fn shown(&self) -> Option<String> {
        match (&self.trouble, self.reason()) {
            (Some(trouble), Some(why)) => Some(format!("{trouble}; {why}")),
            (trouble, why) => trouble.clone().or(why),
        }
    }
}

/// The rewards of some episodes. The names are those of the API.
#[derive(Serialize)]
struct Rewards {
    episodes: usize,
    /// Episodes that have a reward.
    scored: usize,
    /// Those with a reward of 1.
    solved: usize,
    solve_rate: Option<f64>,
    /// Standard deviation, with n - 1.
    reward_std: Option<f64>,
}

impl Rewards {
    fn of(episodes: &[&TriedEpisode]) -> Self {
        let mut solve_rate = SolveRate::default();
        episodes.iter().for_each(|episode| solve_rate.add(episode.reward(), 1));
        let GroupRewards { scored, mean, deviation } = GroupRewards::of(episodes.iter().map(|one| one.reward()));
        Self { episodes: episodes.len(), scored, solved: solve_rate.solved, solve_rate: mean, reward_std: deviation }
    }

    /// Whether nothing can be learned from comparing the episodes.
    fn is_dead(&self) -> bool {
        self.reward_std.is_none_or(|deviation| deviation == 0.0)
    }
}

#[derive(Serialize)]
struct ScenarioRewards<'a> {
    scenario: &'a str,
    #[serde(flatten)]
    rewards: Rewards,
}

/// Episodes with the same start.
#[derive(Serialize)]
struct GroupOfEpisodes<'a> {
    run: &'a str,
    scenario: &'a str,
    group: i32,
    #[serde(flatten)]
    rewards: Rewards,
    dead: bool,
}

#[derive(Serialize)]
struct Reason<'a> {
    reason: &'a str,
    episodes: usize,
}

#[derive(Serialize)]
struct Report<'a> {
    /// The runs that hold the episodes.
    runs: BTreeSet<&'a str>,
    interrupted: bool,
    rewards: Rewards,
    /// The hardest first.
    scenarios: Vec<ScenarioRewards<'a>>,
    groups: Vec<GroupOfEpisodes<'a>>,
    /// Groups by solve rate: from 0 to 10 %, from 10 to 20 %, and so on; the last one includes 100 %.
    spread: [usize; 10],
    episodes: &'a [TriedEpisode],
    unplayed: Vec<Reason<'a>>,
    problems: &'a [Problem],
}

impl<'a> Report<'a> {
    fn of(trial: &'a Trial) -> Self {
        let groups = groups(&trial.episodes);
        Self {
            runs: trial.episodes.iter().map(|episode| episode.run.as_str()).collect(),
            interrupted: trial.is_interrupted,
            rewards: Rewards::of(&trial.episodes.iter().collect::<Vec<_>>()),
            scenarios: scenarios(&trial.episodes),
            spread: spread(&groups),
            groups,
            episodes: &trial.episodes,
            unplayed: counted(trial.unplayed.iter().map(String::as_str)),
            problems: &trial.problems,
        }
    }
}

fn scenarios(episodes: &[TriedEpisode]) -> Vec<ScenarioRewards<'_>> {
    let mut by_name: BTreeMap<&str, Vec<&TriedEpisode>> = BTreeMap::new();
    episodes.iter().for_each(|episode| by_name.entry(&episode.scenario).or_default().push(episode));
    let rewards = |(scenario, episodes): (_, Vec<_>)| ScenarioRewards { scenario, rewards: Rewards::of(&episodes) };
    let mut scenarios: Vec<_> = by_name.into_iter().map(rewards).collect();
    // Nothing is known of those without a reward.
    let ease = |one: &ScenarioRewards<'_>| one.rewards.solve_rate.unwrap_or(f64::INFINITY);
    scenarios.sort_by(|one, other| ease(one).total_cmp(&ease(other)));
    scenarios
}

fn groups(episodes: &[TriedEpisode]) -> Vec<GroupOfEpisodes<'_>> {
    let mut by_start: BTreeMap<(&str, &str, i32), Vec<&TriedEpisode>> = BTreeMap::new();
    for episode in episodes {
        let start = (episode.run.as_str(), episode.scenario.as_str(), episode.group);
        by_start.entry(start).or_default().push(episode);
    }
    let group = |((run, scenario, group), episodes): (_, Vec<_>)| {
        let rewards = Rewards::of(&episodes);
        GroupOfEpisodes { run, scenario, group, dead: rewards.is_dead(), rewards }
    };
    by_start.into_iter().map(group).collect()
}

fn spread(groups: &[GroupOfEpisodes<'_>]) -> [usize; 10] {
    let mut spread = [0; 10];
    for rewards in groups.iter().map(|group| &group.rewards).filter(|rewards| rewards.scored > 0) {
        spread[(10 * rewards.solved / rewards.scored).min(9)] += 1;
    }
    spread
}

/// The most frequent first.
fn counted<'a>(reasons: impl Iterator<Item = &'a str>) -> Vec<Reason<'a>> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    reasons.for_each(|reason| *counts.entry(reason).or_default() += 1);
    let mut reasons: Vec<_> = counts.into_iter().map(|(reason, episodes)| Reason { reason, episodes }).collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.episodes));
    reasons
}

pub fn json(trial: &Trial) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&Report::of(trial))
}

/// One episode.
pub fn line(tried: &TriedEpisode) -> String {
    let reward = tried.reward().map_or_else(|| "-".to_owned(), |reward| reward.to_string());
    let reason = tried.shown().unwrap_or_default();
    format!("{reward}  {}  {}  {reason}", tried.scenario, tried.id).trim_end().to_owned()
}

/// An episode that could not be played.
pub fn unplayed_line(reason: &str) -> String {
    format!("-  not played: {reason}")
}

/// All of them, by scenario.
pub fn text(trial: &Trial) -> String {
    let report = Report::of(trial);
    let mut text = format!(
        "\n{:40} {:>8} {:>8} {:>8} {:>6} {:>6}\n",
        "scenario", "episodes", "solved", "rewarded", "rate", "spread"
    );
    for ScenarioRewards { scenario, rewards } in &report.scenarios {
        row(&mut text, scenario, rewards);
    }
    row(&mut text, "all", &report.rewards);
    if let Some(mean) = report.rewards.solve_rate {
        _ = writeln!(text, "mean reward  {mean:.4} of {} episodes with a reward", report.rewards.scored);
    }
    text += &groups_in_text(&report);
    let reason = |tried: &TriedEpisode| tried.trouble.clone().or_else(|| tried.reason());
    let reasons: Vec<String> = trial.episodes.iter().filter_map(reason).collect();
    let reasons = reasons.iter().map(String::as_str).chain(trial.unplayed.iter().map(String::as_str));
    for Reason { reason, episodes } in counted(reasons).into_iter().take(MOST_REASONS) {
        _ = writeln!(text, "{episodes:>5} x  {reason}");
    }
    let runs: Vec<&str> = report.runs.into_iter().collect();
    match runs.as_slice() {
        [] => {}
        [run] => _ = write!(text, "the conversations are in the run {run}"),
        runs => _ = write!(text, "the conversations are in the runs {}", runs.join(", ")),
    }
    text.trim_end().to_owned()
}

fn row(text: &mut String, name: &str, rewards: &Rewards) {
    let Rewards { episodes, scored, solved, solve_rate, reward_std } = rewards;
    let figure = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
    let (rate, spread) = (figure(*solve_rate), figure(*reward_std));
    _ = writeln!(text, "{name:40} {episodes:>8} {solved:>8} {scored:>8} {rate:>6} {spread:>6}");
}

/// Nothing if no two episodes have the same start.
fn groups_in_text(report: &Report<'_>) -> String {
    if report.groups.iter().all(|group| group.rewards.episodes < 2) {
        return String::new();
    }
    let dead = report.groups.iter().filter(|group| group.dead).count();
    let mut text = format!("groups       {}, {dead} of them with the same reward throughout\n", report.groups.len());
    let tenths = (0..).zip(report.spread).filter(|(_, groups)| *groups > 0);
    let tenths: Vec<String> = tenths.map(|(at, groups)| format!("{}-{} %: {groups}", 10 * at, 10 * (at + 1))).collect();
    if !tenths.is_empty() {
        _ = writeln!(text, "by solve rate  {}", tenths.join(", "));
    }
    text
}
