//! Facets: how many rows there are of each value, and how scores and lengths are distributed.
//!
//! Each facet is counted as if nothing were asked of it, so that people see what else they could choose.

use std::collections::BTreeMap;

use domain::filter::{Dimension, Value, ValueKind};
use strum::VariantArray;

use super::Query;
use super::columns::{Columns, NONE, NONE_16};
use super::dimensions::Column;
use super::predicate::Subject;
use super::query::RunQuery;

/// Counts over all runs of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facets {
    /// Rows that pass, and all that have begun.
    pub matching: u64,
    pub total: u64,
    /// Facet -> value -> rows.
    pub values: BTreeMap<&'static str, BTreeMap<String, u64>>,
    /// `turns` and `tool_calls`: number -> rows. What has none is not counted.
    pub lengths: BTreeMap<&'static str, BTreeMap<u32, u64>>,
    /// `overall`, and the criteria.
    pub scores: BTreeMap<String, [u64; 11]>,
}

/// The name of the overall score among those of criteria.
const OVERALL: &str = "overall";

impl Query<'_> {
    pub fn facets(&self) -> Facets {
        let mut facets = Facets::default();
        self.runs.iter().for_each(|run_query| FacetsOf::count(run_query).add_to(&mut facets));
        facets
    }
}

/// Those of one run, in its own numbers.
struct FacetsOf<'a> {
    columns: &'a Columns,
    matching: u64,
    counted: Vec<CountedColumn<'a>>,
}

/// One column that is counted, and the bit that marks rows which do not pass what is asked of it.
struct CountedColumn<'a> {
    dimension: Dimension,
    criterion: Option<u32>,
    own: u64,
    column: Column<'a>,
    counts: Vec<u64>,
}

impl<'a> CountedColumn<'a> {
    /// `None` if there is nothing to count.
    fn new(run_query: &RunQuery<'a>, dimension: Dimension, criterion: Option<u32>) -> Option<Self> {
        let column = run_query.columns.column(dimension, criterion);
        let len = match &column {
            Column::Bytes(..) => 256,
            Column::Numbers(_, len, _) => *len as usize,
            Column::Shorts(_) => usize::from(NONE_16) + 1,
            Column::Same(_) | Column::Shares(_) | Column::Times(_) => return None,
        };
        let subject: Subject = Some((dimension, criterion));
        let own = run_query.bits().find(|(own, _)| *own == subject).map_or(0, |(_, bit)| bit);
        Some(Self { dimension, criterion, own, column, counts: vec![0; len] })
    }

    fn add(&mut self, rows: &[usize]) {
        match self.column {
            Column::Bytes(column, _) => rows.iter().for_each(|row| self.counts[usize::from(column[*row])] += 1),
            Column::Shorts(column) => rows.iter().for_each(|row| self.counts[usize::from(column[*row])] += 1),
            Column::Numbers(column, ..) => rows.iter().for_each(|row| {
                if let Some(count) = self.counts.get_mut(column[*row] as usize) {
                    *count += 1;
                }
            }),
            Column::Same(_) | Column::Shares(_) | Column::Times(_) => {}
        }
    }

    /// Each value that rows have, and how many.
    fn values(&self) -> impl Iterator<Item = (Value<'a>, u64)> {
        let values = (0..).zip(&self.counts).filter(|(_, count)| **count > 0);
        values.map(|(number, count)| {
            let value = match &self.column {
                Column::Bytes(_, read) => u8::try_from(number).map_or(Value::Missing, read),
                Column::Numbers(_, _, read) => read(number),
                Column::Shorts(_) if number != u32::from(NONE_16) => Value::Number(number),
                _ => Value::Missing,
            };
            (value, *count)
        })
    }
}

impl<'a> FacetsOf<'a> {
    fn count(run_query: &RunQuery<'a>) -> Self {
        let mut own = Self { columns: run_query.columns, matching: 0, counted: counted(run_query) };
        let mut alone: Vec<u64> = own.counted.iter().map(|counted| counted.own).collect();
        alone.sort_unstable();
        alone.dedup();
        let (mut failed, mut rows) = (Vec::new(), Vec::new());
        for chunk in run_query.chunks() {
            run_query.mark(&chunk, &mut failed);
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
            match counted.dimension.kind() {
                ValueKind::Score => {
                    let name = counted.criterion.map_or(OVERALL, |criterion| self.columns.names.name(criterion));
                    let scores = facets.scores.entry(name.to_owned()).or_default();
                    for (score, count) in counted.values().filter_map(number) {
                        scores[score.min(10) as usize] += count;
                    }
                }
                ValueKind::Count => {
                    let lengths = facets.lengths.entry(counted.dimension.into()).or_default();
                    for (length, count) in counted.values().filter_map(number) {
                        *lengths.entry(length).or_default() += count;
                    }
                }
                _ => {
                    let values = facets.values.entry(counted.dimension.into()).or_default();
                    for (value, count) in counted.values() {
                        for name in self.names(counted.dimension, value) {
                            *values.entry(name.to_owned()).or_default() += count;
                        }
                    }
                }
            }
        }
    }

    /// How a value is written in a query.
    fn names(&self, dimension: Dimension, value: Value<'a>) -> Vec<&'a str> {
        let name = |number: u32| match dimension.words() {
            Some(words) => words.get(number as usize).copied(),
            None => Some(self.columns.names.name(number)),
        };
        match value {
            Value::Name(number) => name(number).into_iter().collect(),
            Value::Names(numbers) => numbers.iter().filter_map(|number| name(*number)).collect(),
            Value::Flag(flag) => vec![if flag { "true" } else { "false" }],
            _ => Vec::new(),
        }
    }
}

fn number((value, count): (Value<'_>, u64)) -> Option<(u32, u64)> {
    if let Value::Number(number) = value { Some((number, count)) } else { None }
}

fn counted<'a>(run_query: &RunQuery<'a>) -> Vec<CountedColumn<'a>> {
    let counts = |dimension: &Dimension| {
        dimension.has_facet() || matches!(dimension.kind(), ValueKind::Count | ValueKind::Score)
    };
    let dimensions =
        Dimension::VARIANTS.iter().filter(|dimension| counts(dimension)).map(|dimension| (*dimension, None));
    let names = &run_query.columns.names;
    let criteria = run_query.columns.scores.iter().map(|(criterion, _)| *criterion);
    let criteria = criteria.filter(|criterion| names.name(*criterion) != OVERALL);
    let criteria = criteria.map(|criterion| (Dimension::Score, Some(criterion)));
    dimensions
        .chain(criteria)
        .filter_map(|(dimension, criterion)| CountedColumn::new(run_query, dimension, criterion))
        .collect()
}
