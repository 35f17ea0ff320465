//! A filter as predicates of columns: for each dimension that it asks about, which values pass.

use domain::filter::{Condition, Dimension, Filter, Test};

use super::Columns;
use super::columns::{NEVER, NONE_16, ScenarioNames};
use super::dimensions::Column;

/// Which values of a column pass.
pub enum Predicate<'a> {
    Bytes(&'a [u8], Box<[bool; 256]>),
    /// From, to.
    Shorts(&'a [u16], u16, u16),
    /// By number; a number beyond the table does not pass.
    Numbers(&'a [u32], Vec<bool>),
    AtLeast(&'a [f32], f32),
    /// From, and before.
    Times(&'a [i64], i64, i64),
}

/// The dimension that a predicate restricts, with the criterion if it is a score; `None` if it has no facet of its own.
pub type Subject = Option<(Dimension, Option<u32>)>;

impl Predicate<'_> {
    /// Sets a bit for each row that does not pass, from `first` on.
    pub fn mark(&self, first: usize, bit: u64, failed: &mut [u64]) {
        let rows = first..first + failed.len();
        match self {
            Self::Bytes(column, passes) => mark(failed, &column[rows], bit, |value| passes[usize::from(value)]),
            Self::Shorts(column, from, to) => mark(failed, &column[rows], bit, |value| (*from..=*to).contains(&value)),
            Self::Numbers(column, passes) => {
                mark(failed, &column[rows], bit, |value| passes.get(value as usize).copied().unwrap_or_default());
            }
            Self::AtLeast(column, least) => mark(failed, &column[rows], bit, |value| value >= *least),
            Self::Times(column, from, before) => {
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

/// The predicates of a filter and of a search in scenario ids. `top` is applied separately.
pub fn predicates<'a>(columns: &'a Columns, filter: &Filter, search: Option<&str>) -> Vec<(Subject, Predicate<'a>)> {
    let mut conditions = filter.conditions(|name| columns.names.get(name));
    conditions.sort_by_key(subject);
    let of_filter = conditions.chunk_by(|one, other| subject(one) == subject(other)).filter_map(|conditions| {
        let (dimension, criterion) = subject(&conditions[0]);
        let predicate = predicate(columns, columns.column(dimension, criterion), conditions)?;
        Some((Some((dimension, criterion)), predicate))
    });
    let found = |part: &str| {
        let passes = |scenario: &ScenarioNames| columns.names.name(scenario.name).contains(part);
        (None, Predicate::Numbers(&columns.scenario, columns.scenarios.iter().map(passes).collect()))
    };
    of_filter.chain(search.map(found)).collect()
}

const fn subject(condition: &Condition) -> (Dimension, Option<u32>) {
    (condition.dimension, condition.criterion)
}

/// Which values of a column hold all conditions; `None` if there is nothing that a row could fail.
fn predicate<'a>(columns: &'a Columns, column: Column<'a>, conditions: &[Condition]) -> Option<Predicate<'a>> {
    let passes = |value| conditions.iter().all(|condition| condition.test.holds(value));
    let tests = conditions.iter().map(|condition| &condition.test);
    Some(match column {
        Column::Same(value) if passes(value) => return None,
        Column::Same(_) => nothing(columns),
        Column::Bytes(column, read) => bytes(column, |value| passes(read(value))),
        Column::Numbers(column, len, read) => {
            Predicate::Numbers(column, (0..len).map(|value| passes(read(value))).collect())
        }
        Column::Shorts(column) => {
            let (from, to) = tests.fold((0, NONE_16 - 1), |(from, to), test| match test {
                Test::Within(bounds) => {
                    (from.max(bounds.min.map_or(0, short)), to.min(bounds.max.map_or(NONE_16, short)))
                }
                _ => (from, to),
            });
            Predicate::Shorts(column, from, to)
        }
        Column::Shares(column) => {
            let least = tests.fold(f32::NEG_INFINITY, |least, test| match test {
                Test::MinShare(share) => least.max(*share),
                _ => least,
            });
            Predicate::AtLeast(column, least)
        }
        Column::Times(column) => {
            let (from, before) = tests.fold((i64::MIN, NEVER), |(from, before), test| match test {
                Test::From(time) => (from.max(time.timestamp_micros()), before),
                Test::Before(time) => (from, before.min(time.timestamp_micros())),
                _ => (from, before),
            });
            Predicate::Times(column, from, before)
        }
    })
}

pub fn bytes(column: &[u8], passes: impl Fn(u8) -> bool) -> Predicate<'_> {
    let mut table = Box::new([false; 256]);
    (0..=u8::MAX).for_each(|value| table[usize::from(value)] = passes(value));
    Predicate::Bytes(column, table)
}

/// Nothing passes.
pub fn nothing(columns: &Columns) -> Predicate<'_> {
    bytes(&columns.state, |_| false)
}

fn short(bound: u32) -> u16 {
    u16::try_from(bound).unwrap_or(NONE_16)
}
