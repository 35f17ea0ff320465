//! Facets: how many rows there are of each value, and how scores and lengths are distributed.
//!
//! Each facet is counted as if nothing were asked of it, so that people see what else they could choose.

use std::collections::BTreeMap;

use domain::filter::Status;
use domain::persona::Complexity;
use strum::VariantArray;

use super::Query;
use super::columns::{ANNOTATED, CORRECTED, Columns, NONE, NONE_16, NONE_32, RATED, unpack_state};
use super::predicate::Dimension;
use super::query::Asked;

/// Counts over all runs of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facets {
    /// Rows that pass, and all that have begun.
    pub matching: u64,
    pub total: u64,
    /// Facet -> value -> rows.
    pub values: BTreeMap<&'static str, BTreeMap<String, u64>>,
    /// `overall`, `turns` and `tool_calls`: number -> rows. What has none is not counted.
    pub numbers: BTreeMap<&'static str, BTreeMap<u32, u64>>,
    /// Scores by criterion.
    pub scores: BTreeMap<String, [u64; 11]>,
}

impl Query<'_> {
    pub fn facets(&self) -> Facets {
        let mut facets = Facets::default();
        self.runs.iter().for_each(|asked| FacetsOf::count(asked).add_to(&mut facets));
        facets
    }
}

/// Those of one run, in its own numbers.
pub struct FacetsOf<'a> {
    columns: &'a Columns,
    matching: u64,
    counted: Vec<Counted<'a>>,
}

/// One column that is counted, and the bit that marks rows which do not pass what is asked of it.
struct Counted<'a> {
    dimension: Dimension,
    own: u64,
    column: Column<'a>,
    counts: Vec<u64>,
}

enum Column<'a> {
    Bytes(&'a [u8]),
    Shorts(&'a [u16]),
    Names(&'a [u32]),
}

impl Counted<'_> {
    fn add(&mut self, rows: &[usize]) {
        match self.column {
            Column::Bytes(column) => rows.iter().for_each(|row| self.counts[usize::from(column[*row])] += 1),
            Column::Shorts(column) => rows.iter().for_each(|row| self.counts[usize::from(column[*row])] += 1),
            Column::Names(column) => rows.iter().for_each(|row| {
                if let Some(count) = self.counts.get_mut(column[*row] as usize) {
                    *count += 1;
                }
            }),
        }
    }
}

impl<'a> FacetsOf<'a> {
    fn count(asked: &Asked<'a>) -> Self {
        let mut own = Self { columns: asked.columns, matching: 0, counted: counted(asked) };
        let mut alone: Vec<u64> = own.counted.iter().map(|counted| counted.own).collect();
        alone.sort_unstable();
        alone.dedup();
        let (mut failed, mut rows) = (Vec::new(), Vec::new());
        for chunk in asked.chunks() {
            asked.mark(&chunk, &mut failed);
            own.matching += failed.iter().map(|failed| u64::from(*failed == 0)).sum::<u64>();
            for bit in &alone {
                rows.clear();
                rows.extend(chunk.clone().zip(&failed).filter(|(_, failed)| **failed & !bit == 0).map(|(row, _)| row));
                own.counted.iter_mut().filter(|counted| counted.own == *bit).for_each(|counted| counted.add(&rows));
            }
        }
        own
    }

    fn add_to(&self, facets: &mut Facets) {
        facets.matching += self.matching;
        facets.total += self.columns.state.iter().map(|state| u64::from(*state != NONE)).sum::<u64>();
        for counted in &self.counted {
            let there =
                counted.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(i, count)| (i, *count));
            match (&counted.dimension, &counted.column) {
                (Dimension::Score(criterion), _) => {
                    let scores = facets.scores.entry(criterion.clone()).or_default();
                    there.filter(|(score, _)| *score <= 10).for_each(|(score, count)| scores[score] += count);
                }
                (Dimension::Overall | Dimension::Turns | Dimension::ToolCalls, column) => {
                    let none = if matches!(column, Column::Bytes(_)) { NONE.into() } else { usize::from(NONE_16) };
                    let numbers = facets.numbers.entry(name(&counted.dimension)).or_default();
                    for (number, count) in there.filter(|(number, _)| *number != none) {
                        *numbers.entry(u32::try_from(number).unwrap_or(NONE_32)).or_default() += count;
                    }
                }
                (dimension, _) => {
                    let values = facets.values.entry(name(dimension)).or_default();
                    for (number, count) in there {
                        for value in self.named(dimension, number) {
                            *values.entry(value.to_owned()).or_default() += count;
                        }
                    }
                }
            }
        }
    }

    /// What a number in a column stands for.
    fn named(&self, dimension: &Dimension, number: usize) -> Vec<&'a str> {
        let columns = self.columns;
        let scenario = || &columns.scenarios[number];
        let name = |name: u32| columns.names.name(name);
        let state = || u8::try_from(number).ok().and_then(unpack_state);
        match dimension {
            Dimension::Scenario => vec![name(scenario().name)],
            Dimension::Family => vec![name(scenario().family)],
            Dimension::Playbook => vec![name(scenario().playbook)],
            Dimension::Tag => scenario().tags.iter().map(|tag| name(*tag)).collect(),
            Dimension::Tool => columns.tool_sets[number].iter().map(|tool| name(*tool)).collect(),
            Dimension::Persona | Dimension::Ending => u32::try_from(number).map(name).into_iter().collect(),
            Dimension::Complexity => Complexity::VARIANTS.get(number).map(Complexity::into_str).into_iter().collect(),
            Dimension::Outcome => state().map(|(status, _)| Status::as_str(status)).into_iter().collect(),
            Dimension::Blame => {
                state().and_then(|(_, blame)| blame.map(|blame| blame.into_str())).into_iter().collect()
            }
            Dimension::Goal | Dimension::Verified if number < 2 => vec![["false", "true"][number]],
            Dimension::Rated => vec![yes_or_no(number, RATED)],
            Dimension::Annotated => vec![yes_or_no(number, ANNOTATED)],
            Dimension::Corrected => vec![yes_or_no(number, CORRECTED)],
            _ => Vec::new(),
        }
    }
}

/// Whether people did something, by the number in the column of all that they did.
const fn yes_or_no(did: usize, bit: u8) -> &'static str {
    if did & bit as usize == 0 { "false" } else { "true" }
}

fn name(dimension: &Dimension) -> &'static str {
    match dimension {
        Dimension::Scenario => "scenario",
        Dimension::Family => "family",
        Dimension::Tag => "tag",
        Dimension::Playbook => "playbook",
        Dimension::Persona => "persona",
        Dimension::Complexity => "complexity",
        Dimension::Outcome => "outcome",
        Dimension::Blame => "blame",
        Dimension::Ending => "ending",
        Dimension::Overall => "overall",
        Dimension::Goal => "goal_achieved",
        Dimension::Verified => "verified",
        Dimension::Turns => "turns",
        Dimension::ToolCalls => "tool_calls",
        Dimension::Tool => "tool",
        Dimension::Rated => "rated",
        Dimension::Annotated => "annotated",
        Dimension::Corrected => "corrected",
        Dimension::Run
        | Dimension::Search
        | Dimension::Reason
        | Dimension::Finished
        | Dimension::Score(_)
        | Dimension::Top
        | Dimension::Agreement => "",
    }
}

fn counted<'a>(asked: &Asked<'a>) -> Vec<Counted<'a>> {
    let columns = asked.columns;
    let names = |column: &'a [u32], len: usize| (Column::Names(column), len);
    let bytes = |column: &'a [u8]| (Column::Bytes(column), 256);
    let shorts = |column: &'a [u16]| (Column::Shorts(column), usize::from(NONE_16) + 1);
    let scenarios = || names(&columns.scenario, columns.scenarios.len());
    let mut all = vec![
        (Dimension::Scenario, scenarios()),
        (Dimension::Family, scenarios()),
        (Dimension::Tag, scenarios()),
        (Dimension::Playbook, scenarios()),
        (Dimension::Persona, names(&columns.persona, columns.names.len())),
        (Dimension::Complexity, bytes(&columns.complexity)),
        (Dimension::Outcome, bytes(&columns.state)),
        (Dimension::Blame, bytes(&columns.state)),
        (Dimension::Ending, names(&columns.ending, columns.names.len())),
        (Dimension::Overall, bytes(&columns.overall)),
        (Dimension::Goal, bytes(&columns.goal_achieved)),
        (Dimension::Verified, bytes(&columns.verified)),
        (Dimension::Rated, bytes(&columns.reviewed)),
        (Dimension::Annotated, bytes(&columns.reviewed)),
        (Dimension::Corrected, bytes(&columns.reviewed)),
        (Dimension::Turns, shorts(&columns.turns)),
        (Dimension::ToolCalls, shorts(&columns.tool_calls)),
        (Dimension::Tool, names(&columns.tools, columns.tool_sets.len())),
    ];
    let criterion = |criterion: u32| Dimension::Score(columns.names.name(criterion).to_owned());
    all.extend(columns.scores.iter().map(|(number, column)| (criterion(*number), bytes(column))));
    let own = |dimension: &Dimension| asked.bits().find(|(asked, _)| *asked == dimension).map_or(0, |(_, bit)| bit);
    all.into_iter()
        .map(|(dimension, (column, len))| Counted { own: own(&dimension), dimension, column, counts: vec![0; len] })
        .collect()
}
