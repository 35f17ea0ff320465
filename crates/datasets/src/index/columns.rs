//! One run in columns. A row is a position, so a row is replaced where it stands.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::filter::{ReviewFlags, Status, Symbols};
use domain::outcome::Blame;
use domain::persona::Complexity;
use domain::reward::{SolveRate, reward};
use strum::VariantArray;
use uuid::Uuid;

use super::scenario_columns::{ScenarioColumns, Scenarios};

/// In a column of bytes: nothing is known.
pub const NONE: u8 = u8::MAX;
/// The same in a column of two bytes.
pub const NONE_16: u16 = u16::MAX;
/// The same in a column of names.
pub const NONE_32: u32 = u32::MAX;
/// The same in a column of moments.
pub const NEVER: i64 = i64::MAX;

/// In the column of what people did.
pub const RATED: u8 = 1;
pub const ANNOTATED: u8 = 2;
pub const CORRECTED: u8 = 4;

/// A run, by position.
#[derive(Debug, Clone)]
pub struct Columns {
    pub run: Uuid,
    /// Every name of the run.
    pub names: Symbols,
    /// The name of the run itself: its id.
    pub run_name: u32,
    /// What the column of scenarios counts, and the number of each.
    pub scenarios: Vec<ScenarioNames>,
    scenario_numbers: HashMap<String, u32>,
    about: Arc<Scenarios>,
    playbook: String,
    /// What the column of tools counts: sets of names, sorted.
    pub tool_sets: Vec<Box<[u32]>>,
    /// Why conversations failed, each text once: what the column of reasons counts.
    pub reasons: Symbols,
    /// Who plays the run, as filters name it.
    pub models: Vec<u32>,
    tool_set_numbers: HashMap<Box<[u32]>, u32>,
    pub id: Vec<Uuid>,
    pub scenario: Vec<u32>,
    /// With the scenario: the group of samples that it belongs to.
    pub repeat: Vec<u32>,
    /// Names.
    pub persona: Vec<u32>,
    pub ending: Vec<u32>,
    pub tools: Vec<u32>,
    pub reason: Vec<u32>,
    /// When it finished, in microseconds from 1970 on.
    pub finished: Vec<i64>,
    /// Place in `Complexity::ALL`.
    pub complexity: Vec<u8>,
    /// See [`pack_state`]; [`NONE`] where nothing has begun.
    pub state: Vec<u8>,
    pub overall: Vec<u8>,
    /// By criterion.
    pub scores: Vec<(u32, Vec<u8>)>,
    /// Hundredths.
    pub weighted_mean: Vec<u16>,
    pub agreement: Vec<f32>,
    /// 0 or 1.
    pub goal_achieved: Vec<u8>,
    pub verified: Vec<u8>,
    /// What people did about it, as [`RATED`] and its like say.
    pub reviewed: Vec<u8>,
    pub turns: Vec<u16>,
    pub tool_calls: Vec<u16>,
}

/// A scenario in names.
#[derive(Debug, Clone)]
pub struct ScenarioNames {
    pub name: u32,
    pub family: u32,
    pub tags: Box<[u32]>,
    pub playbook: u32,
}

/// What is put into a row.
#[derive(Debug, Clone, Default)]
pub struct RowValues<'a> {
    pub id: Uuid,
    pub scenario: &'a str,
    pub repeat: u32,
    pub persona: &'a str,
    pub complexity: Complexity,
    pub status: Option<Status>,
    pub blame: Option<Blame>,
    pub reason: Option<&'a str>,
    pub finished: Option<DateTime<Utc>>,
    pub ending: Option<&'a str>,
    pub turns: Option<u32>,
    pub tool_calls: Option<u32>,
    pub tools: &'a [String],
    pub verified: Option<bool>,
}

/// What a judging says of it.
#[derive(Debug, Clone, Default)]
pub struct VerdictValues<'a> {
    pub overall: Option<u8>,
    pub goal_achieved: Option<bool>,
    /// By criterion.
    pub scores: &'a [(u32, u8)],
    pub weighted_mean: Option<f32>,
    pub agreement: Option<f32>,
}

/// Status and blame in one number: unfinished 0, accepted 1, and from 2 on who is to blame.
pub fn pack_state(status: Status, blame: Option<Blame>) -> u8 {
    match (status, blame) {
        (Status::Unfinished, _) => 0,
        (Status::Accepted, _) => 1,
        (Status::Failed, blame) => 2 + blame.map_or(0, |blame| blame as u8),
    }
}

/// What [`pack_state`] numbers.
pub fn unpack_state(state: u8) -> Option<(Status, Option<Blame>)> {
    match state {
        0 => Some((Status::Unfinished, None)),
        1 => Some((Status::Accepted, None)),
        failed => Some((Status::Failed, Some(*Blame::VARIANTS.get(usize::from(failed).checked_sub(2)?)?))),
    }
}

impl Columns {
    pub fn new(run: Uuid, playbook: &str, models: &[String], about: Arc<Scenarios>) -> Self {
        let mut names = Symbols::default();
        let run_name = names.intern(&run.to_string());
        let models = models.iter().map(|model| names.intern(model)).collect();
        Self {
            run,
            names,
            run_name,
            scenarios: Vec::new(),
            scenario_numbers: HashMap::new(),
            about,
            playbook: playbook.to_owned(),
            tool_sets: Vec::new(),
            reasons: Symbols::default(),
            models,
            tool_set_numbers: HashMap::new(),
            id: Vec::new(),
            scenario: Vec::new(),
            repeat: Vec::new(),
            persona: Vec::new(),
            ending: Vec::new(),
            tools: Vec::new(),
            reason: Vec::new(),
            finished: Vec::new(),
            complexity: Vec::new(),
            state: Vec::new(),
            overall: Vec::new(),
            scores: Vec::new(),
            weighted_mean: Vec::new(),
            agreement: Vec::new(),
            goal_achieved: Vec::new(),
            verified: Vec::new(),
            reviewed: Vec::new(),
            turns: Vec::new(),
            tool_calls: Vec::new(),
        }
    }

    /// Positions, begun or not.
    pub fn len(&self) -> usize {
        self.state.len()
    }

    pub fn is_empty(&self) -> bool {
        self.state.is_empty()
    }

    /// Makes room for positions that have not begun.
    pub fn grow(&mut self, len: usize) {
        self.id.resize(len, Uuid::nil());
        let numbers = [
            &mut self.scenario,
            &mut self.repeat,
            &mut self.persona,
            &mut self.ending,
            &mut self.tools,
            &mut self.reason,
        ];
        for column in numbers {
            column.resize(len, NONE_32);
        }
        self.finished.resize(len, NEVER);
        for column in [&mut self.weighted_mean, &mut self.turns, &mut self.tool_calls] {
            column.resize(len, NONE_16);
        }
        let bytes =
            [&mut self.complexity, &mut self.state, &mut self.overall, &mut self.goal_achieved, &mut self.verified];
        for column in bytes.into_iter().chain(self.scores.iter_mut().map(|(_, column)| column)) {
            column.resize(len, NONE);
        }
        self.reviewed.resize(len, 0);
        self.agreement.resize(len, f32::NAN);
    }

    /// Puts a conversation into its place, which there must be, without a verdict.
    pub fn put(&mut self, i: usize, row: &RowValues<'_>) {
        self.id[i] = row.id;
        self.scenario[i] = self.scenario_number(row.scenario);
        self.repeat[i] = row.repeat;
        self.persona[i] = self.names.intern(row.persona);
        self.ending[i] = row.ending.map_or(NONE_32, |ending| self.names.intern(ending));
        self.tools[i] = self.tool_set_number(row.tools);
        self.finished[i] = row.finished.map_or(NEVER, |at| at.timestamp_micros());
        self.complexity[i] = row.complexity as u8;
        self.set_outcome(i, row.status.unwrap_or(Status::Unfinished), row.blame, row.reason, row.verified);
        self.turns[i] = narrow(row.turns);
        self.tool_calls[i] = narrow(row.tool_calls);
        self.reviewed[i] = 0;
        self.set_verdict(i, &VerdictValues::default());
    }

    /// Puts what the judging says of it beside a conversation.
    pub fn set_verdict(&mut self, i: usize, verdict: &VerdictValues<'_>) {
        self.overall[i] = verdict.overall.unwrap_or(NONE);
        self.goal_achieved[i] = verdict.goal_achieved.map_or(NONE, u8::from);
        self.weighted_mean[i] = verdict.weighted_mean.map_or(NONE_16, hundredths);
        self.agreement[i] = verdict.agreement.unwrap_or(f32::NAN);
        for (_, column) in &mut self.scores {
            column[i] = NONE;
        }
        for (criterion, score) in verdict.scores {
            let len = self.state.len();
            let known = self.scores.iter().position(|(known, _)| known == criterion);
            let column = known.unwrap_or_else(|| {
                self.scores.push((*criterion, vec![NONE; len]));
                self.scores.len() - 1
            });
            self.scores[column].1[i] = *score;
        }
    }

    /// The same without what judges say of some rows, and what follows from it: for whoever is still to rate them. A row is
    /// passed over if another conversation stands there.
    #[must_use]
    pub fn unjudged(&self, rows: &[(usize, Uuid)]) -> Self {
        let mut own = self.clone();
        for (row, id) in rows {
            if own.id.get(*row) == Some(id) {
                own.set_verdict(*row, &VerdictValues::default());
                let verified = present(own.verified[*row]).map(|flag| flag == 1);
                own.set_outcome(*row, Status::Unfinished, None, None, verified);
            }
        }
        own
    }

    /// Puts down what people did about a conversation.
    pub fn set_review(&mut self, i: usize, reviewed: ReviewFlags) {
        let bit = |is: bool, bit: u8| if is { bit } else { 0 };
        self.reviewed[i] =
            bit(reviewed.rated, RATED) | bit(reviewed.annotated, ANNOTATED) | bit(reviewed.corrected, CORRECTED);
    }

    /// Puts an outcome in place of the one that the conversation had when it was played.
    pub fn set_outcome(
        &mut self,
        i: usize,
        status: Status,
        blame: Option<Blame>,
        reason: Option<&str>,
        verified: Option<bool>,
    ) {
        self.state[i] = pack_state(status, blame);
        self.reason[i] = reason.map_or(NONE_32, |reason| self.reasons.intern(reason));
        self.verified[i] = verified.map_or(NONE, u8::from);
    }

    fn scenario_number(&mut self, id: &str) -> u32 {
        if let Some(number) = self.scenario_numbers.get(id) {
            return *number;
        }
        let about = self.about.get(id).cloned().unwrap_or_else(|| ScenarioColumns::unknown(id, &self.playbook));
        let number = u32::try_from(self.scenarios.len()).unwrap_or(NONE_32);
        self.scenarios.push(ScenarioNames {
            name: self.names.intern(id),
            family: self.names.intern(&about.family),
            tags: about.tags.iter().map(|tag| self.names.intern(tag)).collect(),
            playbook: self.names.intern(&about.playbook),
        });
        self.scenario_numbers.insert(id.to_owned(), number);
        number
    }

    fn tool_set_number(&mut self, tools: &[String]) -> u32 {
        let mut names: Vec<u32> = tools.iter().map(|tool| self.names.intern(tool)).collect();
        names.sort_unstable();
        if let Some(number) = self.tool_set_numbers.get(names.as_slice()) {
            return *number;
        }
        let number = u32::try_from(self.tool_sets.len()).unwrap_or(NONE_32);
        let names: Box<[u32]> = names.into();
        self.tool_sets.push(names.clone());
        self.tool_set_numbers.insert(names, number);
        number
    }

    /// The status of a row; `None` if it has not begun.
    pub fn status(&self, row: usize) -> Option<Status> {
        unpack_state(self.state[row]).map(|(status, _)| status)
    }

    /// The reward of a row that has ended, if it has one.
    pub fn reward(&self, row: usize) -> Option<u8> {
        let (status, blame) = unpack_state(self.state[row])?;
        (status != Status::Unfinished).then(|| reward(blame, self.verified[row] == 1)).flatten()
    }

    /// By scenario, in the order of their numbers.
    pub fn solve_rates(&self) -> Vec<SolveRate> {
        let mut rates = vec![SolveRate::default(); self.scenarios.len()];
        for row in 0..self.len() {
            if let Some(rate) = rates.get_mut(self.scenario[row] as usize) {
                rate.add(self.reward(row), 1);
            }
        }
        rates
    }

    /// The scores of a criterion, which is a name of the run; `None`: the overall scores.
    pub fn scores_of(&self, criterion: Option<u32>) -> Option<&[u8]> {
        let Some(criterion) = criterion else { return Some(&self.overall) };
        self.scores.iter().find(|(own, _)| *own == criterion).map(|(_, column)| column.as_slice())
    }

    /// The same by name.
    pub fn scores_named(&self, criterion: Option<&str>) -> Option<&[u8]> {
        match criterion {
            None => self.scores_of(None),
            Some(name) => self.scores_of(Some(self.names.get(name)?)),
        }
    }

    /// Names of the criteria.
    pub fn criteria(&self) -> impl Iterator<Item = &str> {
        self.scores.iter().map(|(criterion, _)| self.names.name(*criterion))
    }
}

pub fn present(value: u8) -> Option<u8> {
    Some(value).filter(|value| *value != NONE)
}

pub fn present_16(value: u16) -> Option<u32> {
    Some(value).filter(|value| *value != NONE_16).map(u32::from)
}

fn narrow(value: Option<u32>) -> u16 {
    value.map_or(NONE_16, |value| u16::try_from(value).unwrap_or(NONE_16 - 1).min(NONE_16 - 1))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a mean is from 0 to 10")]
fn hundredths(mean: f32) -> u16 {
    (mean * 100.0).round() as u16
}
