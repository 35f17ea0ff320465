//! Groups of a run: rows with the same scenario and the same draw, and what their rewards come to.

use std::collections::HashMap;

use domain::api::MOST_SAMPLES;
use domain::api::groups::{GroupSample, GroupsSummary, RunGroup, ScenarioSolveRate};
use domain::filter::Status;
use domain::reward::{GroupRewards, SolveRate};

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
        let mut all = SolveRate::default();
        for rows in &self.groups {
            let (rewards, ended) = self.rewards(rows);
            let own = rows.iter().filter(|row| self.columns.reward(**row) == Some(1)).count();
            summary.samples += rows.len();
            summary.scored += rewards.scored;
            summary.unscored += ended - rewards.scored;
            (all.scored, all.solved) = (all.scored + rewards.scored, all.solved + own);
            if ended == rows.len() {
                summary.finished += 1;
                summary.dead += usize::from(rewards.is_dead());
                if let Some(tenth) = (own * 10).checked_div(rewards.scored) {
                    summary.spread[tenth.min(9)] += 1;
                }
            }
        }
        summary.solve_rate = all.share();
        summary.scenarios = self.hardest();
        summary
    }

    fn hardest(&self) -> Vec<ScenarioSolveRate> {
        let of = |(scenario, rate): (u32, SolveRate)| {
            Some(ScenarioSolveRate {
                scenario: self.scenario(scenario).to_owned(),
                scored: rate.scored,
                solved: rate.solved,
                solve_rate: rate.share()?,
            })
        };
        let mut all: Vec<_> = (0..).zip(self.columns.solve_rates()).filter_map(of).collect();
        all.sort_by(|one, other| {
            one.solve_rate.total_cmp(&other.solve_rate).then_with(|| one.scenario.cmp(&other.scenario))
        });
        all.truncate(MOST_SCENARIOS);
        all
    }

    fn group(&self, rows: &[usize]) -> RunGroup {
        let (columns, (rewards, ended)) = (self.columns, self.rewards(rows));
        RunGroup {
            scenario: self.scenario(columns.scenario[rows[0]]).to_owned(),
            group: columns.repeat[rows[0]],
            persona: columns.names.name(columns.persona[rows[0]]).to_owned(),
            samples: rows.iter().take(MOST_SAMPLES as usize).map(|row| self.sample(*row)).collect(),
            samples_in_all: rows.len(),
            scored: rewards.scored,
            solve_rate: rewards.mean,
            reward_std: rewards.deviation,
            // What is still played may get another reward.
            dead: ended == rows.len() && rewards.is_dead(),
        }
    }

    fn sample(&self, row: usize) -> GroupSample {
        let columns = self.columns;
        let (status, blame) = unpack_state(columns.state[row]).unwrap_or((Status::Unfinished, None));
        GroupSample {
            conversation: columns.id[row].to_string(),
            position: row,
            status,
            reward: columns.reward(row),
            blame,
            overall: present(columns.overall[row]),
            turns: present_16(columns.turns[row]),
            tool_calls: present_16(columns.tool_calls[row]),
        }
    }

    /// The rewards of these rows taken together, and how many of the rows have ended.
    fn rewards(&self, rows: &[usize]) -> (GroupRewards, usize) {
        let is_unfinished = |row: usize| self.columns.status(row).is_none_or(|status| status == Status::Unfinished);
        let ended = rows.iter().filter(|row| !is_unfinished(**row)).count();
        (GroupRewards::of(rows.iter().map(|row| self.columns.reward(*row))), ended)
    }

    fn scenario(&self, number: u32) -> &'a str {
        self.columns.scenarios.get(number as usize).map_or("", |names| self.columns.names.name(names.name))
    }
}
