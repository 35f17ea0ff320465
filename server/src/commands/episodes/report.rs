//! What a command came to as the agent.

use std::collections::BTreeMap;
use std::fmt::Write;

use domain::api::episodes::{Episode, EpisodeResult};
use domain::reward::GroupRewards;

/// Failures that are shown of each kind.
const MOST_REASONS: usize = 10;

pub struct TriedEpisode {
    pub episode: Episode,
    /// Why the command did not come to a good end.
    pub trouble: Option<String>,
}

impl TriedEpisode {
    fn result(&self) -> Option<&EpisodeResult> {
        self.episode.result.as_ref()
    }

    pub fn reward(&self) -> Option<u8> {
        self.result().and_then(|result| result.reward)
    }

    /// Why the reward is not 1.
    fn reason(&self) -> Option<String> {
        let result = self.result()?;
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

/// One episode.
pub fn line(tried: &TriedEpisode) -> String {
    let reward = tried.reward().map_or_else(|| "-".to_owned(), |reward| reward.to_string());
    let reason = tried.shown().unwrap_or_default();
    format!("{reward}  {}  {}  {reason}", tried.episode.scenario, tried.episode.id).trim_end().to_owned()
}

/// All of them, by scenario.
pub fn summary(all: &[TriedEpisode]) -> String {
    let mut scenarios: BTreeMap<&str, Vec<&TriedEpisode>> = BTreeMap::new();
    for tried in all {
        scenarios.entry(&tried.episode.scenario).or_default().push(tried);
    }
    let mut text = format!("\n{:40} {:>8} {:>8} {:>8}\n", "scenario", "episodes", "solved", "rewarded");
    let mut row = |name: &str, of: &[&TriedEpisode]| {
        let rewards: Vec<Option<u8>> = of.iter().map(|tried| tried.reward()).collect();
        let solved = rewards.iter().filter(|reward| **reward == Some(1)).count();
        let scored = rewards.iter().flatten().count();
        _ = writeln!(text, "{name:40} {:>8} {solved:>8} {scored:>8}", of.len());
    };
    for (name, of) in &scenarios {
        row(name, of);
    }
    row("all", &all.iter().collect::<Vec<_>>());
    let rewards = GroupRewards::of(all.iter().map(TriedEpisode::reward));
    if let Some(mean) = rewards.mean {
        _ = writeln!(text, "mean reward  {mean:.4} of {} episodes with a reward", rewards.scored);
    }
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let counted = |tried: &TriedEpisode| tried.trouble.clone().or_else(|| tried.reason());
    all.iter().filter_map(counted).for_each(|reason| *reasons.entry(reason).or_default() += 1);
    let mut reasons: Vec<(String, usize)> = reasons.into_iter().collect();
    reasons.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    for (reason, count) in reasons.iter().take(MOST_REASONS) {
        _ = writeln!(text, "{count:>5} x  {reason}");
    }
    if let Some(episode) = all.first() {
        _ = write!(text, "the conversations are in the run {}", episode.episode.run);
    }
    text
}
