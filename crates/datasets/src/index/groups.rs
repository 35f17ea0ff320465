//! Groups of a run: rows with the same scenario and the same draw, and what their rewards come to.

use std::collections::{BTreeMap, HashMap};

use domain::api::MOST_SAMPLES;
use domain::api::groups::{GroupSample, GroupsSummary, RunGroup, ScenarioSolveRate};
use domain::filter::Status;
use domain::reward::{GroupRewards, reward};

use super::Columns;
use super::columns::{NONE, present, present_16, unpack_state};

/// Scenarios of a summary.
const MOST_SCENARIOS: usize = 1_000;

/// The groups of a run, in the order of their first rows.
pub struct Groups<'a> {
    columns: &'a Columns,
    groups: Vec<Vec<usize>>,
}

impl<'a> Groups<'a> {
    pub fn of(columns: &'a Columns) -> Self {
        let mut places: HashMap<(u32, u32), usize> = HashMap::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for row in (0..columns.len()).filter(|row| columns.state[*row] != NONE) {
            let place = *places.entry((columns.scenario[row], columns.repeat[row])).or_insert(groups.len());
            if place == groups.len() {
                groups.push(Vec::new());
            }
            groups[place].push(row);
        }
        Self { columns, groups }
    }

    /// Groups after the one that begins at a row, those that are wanted.
    pub fn page(&self, after: Option<usize>, limit: usize, wanted: impl Fn(&RunGroup) -> bool) -> Vec<RunGroup> {
        let from = after.map_or(0, |after| self.groups.partition_point(|group| group[0] <= after));
        self.groups[from..].iter().map(|rows| self.group(rows)).filter(wanted).take(limit).collect()
    }

    /// Of each scenario that has rewards, by its name: the share of samples with a reward of 1.
    pub fn solve_rates(&self) -> HashMap<&'a str, f64> {
        let mut scenarios: HashMap<u32, [usize; 2]> = HashMap::new();
        for row in self.groups.iter().flatten() {
            let Some(reward) = self.reward(*row) else { continue };
            let [scored, solved] = scenarios.entry(self.columns.scenario[*row]).or_default();
            (*scored, *solved) = (*scored + 1, *solved + usize::from(reward));
        }
        scenarios
            .into_iter()
            .map(|(scenario, [scored, solved])| (self.scenario(scenario), share(solved, scored)))
            .collect()
    }

    pub fn summary(&self) -> GroupsSummary {
        let mut summary = GroupsSummary {
            groups: self.groups.len(),
            finished: 0,
            dead: 0,
            samples: 0,
            scored: 0,
            unscored: 0,
            solve_rate: None,
            spread: [0; 10],
            scenarios: Vec::new(),
        };
        let (mut scenarios, mut solved) = (BTreeMap::<u32, [usize; 2]>::new(), 0);
        for rows in &self.groups {
            let (rewards, ended) = self.rewards(rows);
            let own = rows.iter().filter(|row| self.reward(**row) == Some(1)).count();
            summary.samples += rows.len();
            summary.scored += rewards.scored;
            summary.unscored += ended - rewards.scored;
            solved += own;
            let [scored, won] = scenarios.entry(self.columns.scenario[rows[0]]).or_default();
            (*scored, *won) = (*scored + rewards.scored, *won + own);
            if ended == rows.len() {
                summary.finished += 1;
                summary.dead += usize::from(rewards.is_dead());
                if let Some(tenth) = (own * 10).checked_div(rewards.scored) {
                    summary.spread[tenth.min(9)] += 1;
                }
            }
        }
        summary.solve_rate = (summary.scored > 0).then(|| share(solved, summary.scored));
        summary.scenarios = self.hardest(&scenarios);
        summary
    }

    fn hardest(&self, scenarios: &BTreeMap<u32, [usize; 2]>) -> Vec<ScenarioSolveRate> {
        let of = |(scenario, [scored, solved]): (&u32, &[usize; 2])| ScenarioSolveRate {
            scenario: self.scenario(*scenario).to_owned(),
            scored: *scored,
            solved: *solved,
            solve_rate: share(*solved, *scored),
        };
        let mut all: Vec<_> = scenarios.iter().filter(|(_, [scored, _])| *scored > 0).map(of).collect();
        all.sort_by(|one, other| {
            one.solve_rate.total_cmp(&other.solve_rate).then_with(|| one.scenario.cmp(&other.scenario))
        });
        all.truncate(MOST_SCENARIOS);
        all
    }

    fn group(&self, rows: &[usize]) -> RunGroup {
        let (columns, (rewards, _)) = (self.columns, self.rewards(rows));
        RunGroup {
            scenario: self.scenario(columns.scenario[rows[0]]).to_owned(),
            group: columns.repeat[rows[0]],
            persona: columns.names.name(columns.persona[rows[0]]).to_owned(),
            samples: rows.iter().take(MOST_SAMPLES as usize).map(|row| self.sample(*row)).collect(),
            samples_in_all: rows.len(),
            scored: rewards.scored,
            solve_rate: rewards.mean,
            reward_std: rewards.deviation,
            dead: rewards.is_dead(),
        }
    }

    fn sample(&self, row: usize) -> GroupSample {
        let columns = self.columns;
        let (status, blame) = unpack_state(columns.state[row]).unwrap_or((Status::Unfinished, None));
        GroupSample {
            conversation: columns.id[row].to_string(),
            position: row,
            status,
            reward: self.reward(row),
            blame,
            overall: present(columns.overall[row]),
            turns: present_16(columns.turns[row]),
            tool_calls: present_16(columns.tool_calls[row]),
        }
    }

    /// The rewards of these rows taken together, and how many of the rows have ended.
    fn rewards(&self, rows: &[usize]) -> (GroupRewards, usize) {
        let ended = rows.iter().filter(|row| self.status(**row) != Status::Unfinished).count();
        (GroupRewards::of(rows.iter().map(|row| self.reward(*row))), ended)
    }

    fn reward(&self, row: usize) -> Option<u8> {
        let (status, blame) = unpack_state(self.columns.state[row])?;
        (status != Status::Unfinished).then(|| reward(blame, self.columns.verified[row] == 1)).flatten()
    }

    fn status(&self, row: usize) -> Status {
        unpack_state(self.columns.state[row]).map_or(Status::Unfinished, |(status, _)| status)
    }

    fn scenario(&self, number: u32) -> &'a str {
        self.columns.scenarios.get(number as usize).map_or("", |names| self.columns.names.name(names.name))
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn share(part: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}
