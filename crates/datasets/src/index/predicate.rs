//! A filter as tests of columns: for each thing that it asks, which values pass.

use std::ops::RangeInclusive;

use domain::filter::{Bounds, Filter, Status};
use domain::outcome::Blame;
use domain::persona::Complexity;
use strum::VariantArray;

use super::Columns;
use super::columns::{ANNOTATED, CORRECTED, NEVER, NONE, NONE_16, RATED, ScenarioNames, unpack_state};

/// What a filter can ask about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dimension {
    /// Nothing that a row could change.
    Run,
    Scenario,
    Family,
    Tag,
    Playbook,
    Search,
    Persona,
    Complexity,
    Outcome,
    Blame,
    Reason,
    Finished,
    Ending,
    Score(String),
    Overall,
    Top,
    Goal,
    Verified,
    Turns,
    ToolCalls,
    /// One at least, and all of them.
    Tool,
    Agreement,
    Rated,
    Annotated,
    Corrected,
}

/// Which values of a column pass. `None` marks pass nothing.
pub enum Test<'a> {
    Bytes(&'a [u8], Box<[bool; 256]>),
    /// From, to.
    Shorts(&'a [u16], u16, u16),
    /// By number; what has no number does not pass.
    Names(&'a [u32], Vec<bool>),
    AtLeast(&'a [f32], f32),
    /// From, and before.
    Moments(&'a [i64], i64, i64),
}

impl Test<'_> {
    /// Sets a bit for each row that does not pass, from `first` on.
    pub fn mark(&self, first: usize, bit: u64, failed: &mut [u64]) {
        let rows = first..first + failed.len();
        match self {
            Self::Bytes(column, passes) => {
                mark(failed, &column[rows], bit, |value| passes[usize::from(value)]);
            }
            Self::Shorts(column, from, to) => mark(failed, &column[rows], bit, |value| (*from..=*to).contains(&value)),
            Self::Names(column, passes) => {
                mark(failed, &column[rows], bit, |value| passes.get(value as usize).copied().unwrap_or_default());
            }
            Self::AtLeast(column, least) => mark(failed, &column[rows], bit, |value| value >= *least),
            Self::Moments(column, from, before) => {
                mark(failed, &column[rows], bit, |value| (*from..*before).contains(&value));
            }
        }
    }
}

fn mark<T: Copy>(failed: &mut [u64], column: &[T], bit: u64, passes: impl Fn(T) -> bool) {
    for (failed, value) in failed.iter_mut().zip(column) {
        *failed |= if passes(*value) { 0 } else { bit };
    }
}

/// What a filter and a search for a part of scenarios' names ask of a run. `top` is not among it.
pub fn tests<'a>(columns: &'a Columns, filter: &Filter, search: Option<&str>) -> Vec<(Dimension, Test<'a>)> {
    let mut tests = Vec::new();
    let others = !filter.runs.is_empty() && !filter.runs.contains(&columns.run.to_string());
    let played = |model: &String| columns.names.get(model).is_some_and(|model| columns.models.contains(&model));
    if others || !filter.models.is_empty() && !filter.models.iter().any(played) {
        tests.push((Dimension::Run, bytes(&columns.state, |_| false)));
    }
    cases(columns, filter, search, &mut tests);
    verdicts(columns, filter, &mut tests);
    reviews(columns, filter, &mut tests);
    courses(columns, filter, &mut tests);
    tests
}

type Tests<'a> = Vec<(Dimension, Test<'a>)>;

/// What was decided before the first word.
fn cases<'a>(columns: &'a Columns, filter: &Filter, search: Option<&str>, tests: &mut Tests<'a>) {
    let mut scenario = |dimension, passes: &dyn Fn(&ScenarioNames) -> bool| {
        let passes = columns.scenarios.iter().map(passes).collect();
        tests.push((dimension, Test::Names(&columns.scenario, passes)));
    };
    let number = |names: &[String]| names.iter().filter_map(|name| columns.names.get(name)).collect::<Vec<u32>>();
    if !filter.scenarios.is_empty() {
        let asked = number(&filter.scenarios);
        scenario(Dimension::Scenario, &|known| asked.contains(&known.name));
    }
    if !filter.families.is_empty() {
        let asked = number(&filter.families);
        scenario(Dimension::Family, &|known| asked.contains(&known.family));
    }
    if !filter.tags.is_empty() {
        let asked = number(&filter.tags);
        scenario(Dimension::Tag, &|known| known.tags.iter().any(|tag| asked.contains(tag)));
    }
    if !filter.playbooks.is_empty() {
        let asked = number(&filter.playbooks);
        scenario(Dimension::Playbook, &|known| asked.contains(&known.playbook));
    }
    if let Some(part) = search {
        scenario(Dimension::Search, &|known| columns.names.name(known.name).contains(part));
    }
    if !filter.personas.is_empty() {
        tests.push((Dimension::Persona, Test::Names(&columns.persona, table(&number(&filter.personas)))));
    }
    if !filter.complexities.is_empty() {
        let passes = |value: u8| {
            Complexity::VARIANTS
                .get(usize::from(value))
                .is_some_and(|complexity| filter.complexities.contains(complexity))
        };
        tests.push((Dimension::Complexity, bytes(&columns.complexity, passes)));
    }
}

fn verdicts<'a>(columns: &'a Columns, filter: &Filter, tests: &mut Tests<'a>) {
    let mut state = |dimension, passes: &dyn Fn(Status, Option<Blame>) -> bool| {
        let passes = |value: u8| unpack_state(value).is_some_and(|(status, blame)| passes(status, blame));
        tests.push((dimension, bytes(&columns.state, passes)));
    };
    if !filter.outcomes.is_empty() {
        state(Dimension::Outcome, &|status, _| filter.outcomes.contains(&status));
    }
    if !filter.blames.is_empty() {
        state(Dimension::Blame, &|_, blame| blame.is_some_and(|blame| filter.blames.contains(&blame)));
    }
    if let Some(part) = &filter.reason {
        let passes =
            (0..).take(columns.reasons.len()).map(|reason| columns.reasons.name(reason).contains(part.as_str()));
        tests.push((Dimension::Reason, Test::Names(&columns.reason, passes.collect())));
    }
    for (criterion, range) in filter.scores() {
        let test = match columns.scores_of(criterion) {
            Some(column) => scores(column, &range),
            None => bytes(&columns.state, |_| false),
        };
        tests.push((Dimension::Score(criterion.to_owned()), test));
    }
    if let Some(range) = filter.overall() {
        tests.push((Dimension::Overall, scores(&columns.overall, &range)));
    }
    if let Some(wanted) = filter.goal_achieved {
        tests.push((Dimension::Goal, bytes(&columns.goal_achieved, |flag| flag == u8::from(wanted))));
    }
    if let Some(wanted) = filter.verified {
        tests.push((Dimension::Verified, bytes(&columns.verified, |flag| flag == u8::from(wanted))));
    }
    if let Some(least) = filter.min_agreement {
        tests.push((Dimension::Agreement, Test::AtLeast(&columns.agreement, as_kept(least))));
    }
}

/// What people did.
fn reviews<'a>(columns: &'a Columns, filter: &Filter, tests: &mut Tests<'a>) {
    let all = [
        (Dimension::Rated, filter.rated, RATED),
        (Dimension::Annotated, filter.annotated, ANNOTATED),
        (Dimension::Corrected, filter.corrected, CORRECTED),
    ];
    for (dimension, wanted, bit) in all {
        if let Some(wanted) = wanted {
            tests.push((dimension, bytes(&columns.reviewed, |did| (did & bit != 0) == wanted)));
        }
    }
}

fn courses<'a>(columns: &'a Columns, filter: &Filter, tests: &mut Tests<'a>) {
    let number = |names: &[String]| names.iter().map(|name| columns.names.get(name)).collect::<Vec<_>>();
    if !filter.endings.is_empty() {
        let asked: Vec<u32> = number(&filter.endings).into_iter().flatten().collect();
        tests.push((Dimension::Ending, Test::Names(&columns.ending, table(&asked))));
    }
    if filter.finished_from.is_some() || filter.finished_before.is_some() {
        let from = filter.finished_from.map_or(i64::MIN, |at| at.timestamp_micros());
        let before = filter.finished_before.map_or(NEVER, |at| at.timestamp_micros());
        tests.push((Dimension::Finished, Test::Moments(&columns.finished, from, before)));
    }
    if !filter.turns.is_open() {
        tests.push((Dimension::Turns, within(&columns.turns, filter.turns)));
    }
    if !filter.tool_calls.is_open() {
        tests.push((Dimension::ToolCalls, within(&columns.tool_calls, filter.tool_calls)));
    }
    if !filter.tools_any.is_empty() || !filter.tools_all.is_empty() {
        let (any, all) = (number(&filter.tools_any), number(&filter.tools_all));
        let has = |set: &[u32], tool: Option<u32>| tool.is_some_and(|tool| set.contains(&tool));
        let sets = columns.tool_sets.iter().map(|set| {
            (any.is_empty() || any.iter().any(|tool| has(set, *tool))) && all.iter().all(|tool| has(set, *tool))
        });
        tests.push((Dimension::Tool, Test::Names(&columns.tools, sets.collect())));
    }
}

/// 0.9 agrees at least 0.9.
#[expect(clippy::cast_possible_truncation, reason = "the column is no more exact")]
fn as_kept(agreement: f64) -> f32 {
    agreement as f32
}

pub fn bytes(column: &[u8], passes: impl Fn(u8) -> bool) -> Test<'_> {
    let mut table = Box::new([false; 256]);
    (0..=u8::MAX).for_each(|value| table[usize::from(value)] = passes(value));
    Test::Bytes(column, table)
}

fn scores<'a>(column: &'a [u8], range: &RangeInclusive<u8>) -> Test<'a> {
    bytes(column, |score| score != NONE && range.contains(&score))
}

/// Which numbers of names were asked for.
fn table(asked: &[u32]) -> Vec<bool> {
    let mut table = vec![false; asked.iter().max().map_or(0, |last| *last as usize + 1)];
    asked.iter().for_each(|number| table[*number as usize] = true);
    table
}

fn within(column: &[u16], bounds: Bounds) -> Test<'_> {
    let narrow = |bound: u32| u16::try_from(bound).unwrap_or(NONE_16);
    let most = NONE_16 - 1;
    Test::Shorts(column, bounds.min.map_or(0, narrow), bounds.max.map_or(most, |max| narrow(max).min(most)))
}
