//! A filter that is ready to be applied to many conversations: its conditions, with numbers for names.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::{Bounds, Comparison, Dimension, Filter, PARAMETERS, Parameter};

/// The number of a name that no row has.
const NOTHING: u32 = u32::MAX;

/// A conversation as filters see it. Names are numbers: the index into [`Dimension::words`] if the dimension has such words,
/// and otherwise a number that the owner of the rows chooses. The conditions of a filter must use the same numbers.
pub trait Row {
    /// `criterion` is used with [`Dimension::Score`] only; `None` is the overall score.
    fn value(&self, dimension: Dimension, criterion: Option<u32>) -> Value<'_>;
}

/// The value of a row for a dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// It passes no test.
    Missing,
    Name(u32),
    Names(&'a [u32]),
    Text(&'a str),
    Number(u32),
    Flag(bool),
    Share(f32),
    Time(DateTime<Utc>),
}

/// One part of a filter. All parts must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The field of the filter, followed by the criterion if there is one: `min_scores.CRITERION`.
    pub name: String,
    pub dimension: Dimension,
    /// The criterion of a score; `None` is the overall score.
    pub criterion: Option<u32>,
    pub test: Test,
}

/// What must be true of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// At least one of these names, which are sorted.
    AnyOf(Vec<u32>),
    AllOf(Vec<u32>),
    Contains(String),
    Within(Bounds),
    Is(bool),
    MinShare(f32),
    MaxShare(f32),
    From(DateTime<Utc>),
    Before(DateTime<Utc>),
}

impl Filter {
    /// All conditions except the best shares ([`Filter::top`]). `number` returns the number of a name, or `None` if no row has
    /// the name.
    pub fn conditions(&self, mut number: impl FnMut(&str) -> Option<u32>) -> Vec<Condition> {
        PARAMETERS.iter().flat_map(|parameter| parameter.conditions(self, &mut number)).collect()
    }
}

impl Condition {
    pub fn holds(&self, row: &impl Row) -> bool {
        self.test.holds(row.value(self.dimension, self.criterion))
    }
}

impl Test {
    pub fn holds(&self, value: Value<'_>) -> bool {
        match (self, value) {
            (Self::AnyOf(asked), Value::Name(name)) => asked.binary_search(&name).is_ok(),
            (Self::AnyOf(asked), Value::Names(names)) => names.iter().any(|name| asked.binary_search(name).is_ok()),
            (Self::AllOf(asked), Value::Names(names)) => asked.iter().all(|name| names.contains(name)),
            (Self::Contains(part), Value::Text(text)) => text.contains(part.as_str()),
            (Self::Within(bounds), Value::Number(number)) => bounds.holds(number),
            (Self::Is(asked), Value::Flag(flag)) => *asked == flag,
            (Self::MinShare(least), Value::Share(share)) => *least <= share,
            (Self::MaxShare(most), Value::Share(share)) => share <= *most,
            (Self::From(from), Value::Time(time)) => *from <= time,
            (Self::Before(before), Value::Time(time)) => time < *before,
            _ => false,
        }
    }
}

impl Parameter {
    fn conditions(&self, filter: &Filter, number: &mut impl FnMut(&str) -> Option<u32>) -> Vec<Condition> {
        let Some(dimension) = self.dimension else { return Vec::new() };
        let one = |test: Option<Test>| -> Vec<Condition> {
            let condition = |test| Condition { name: self.field.to_owned(), dimension, criterion: None, test };
            test.map(condition).into_iter().collect()
        };
        match &self.comparison {
            Comparison::AnyOf(field) => one(any_of(field.of(filter), |name| number(name))),
            Comparison::AllOf(field) => {
                let names = field.of(filter);
                let all = || names.iter().map(|name| number(name).unwrap_or(NOTHING)).collect();
                one((!names.is_empty()).then(all).map(Test::AllOf))
            }
            Comparison::Words(words) => {
                let known = dimension.words().unwrap_or_default();
                let place = |word: &&str| known.iter().position(|known| known == word);
                one(any_of(&words.of(filter), |word| u32::try_from(place(word)?).ok()))
            }
            Comparison::Contains(field) => one(field.of(filter).clone().map(Test::Contains)),
            Comparison::Is(field) => one(field.of(filter).map(Test::Is)),
            Comparison::MinScore(field) => one(field.of(filter).map(|min| Test::Within(Bounds::at_least(min)))),
            Comparison::MaxScore(field) => one(field.of(filter).map(|max| Test::Within(Bounds::at_most(max)))),
            Comparison::MinScores(field) => self.of_criteria(dimension, field.of(filter), number, Bounds::at_least),
            Comparison::MaxScores(field) => self.of_criteria(dimension, field.of(filter), number, Bounds::at_most),
            // Both bounds are one field of the filter, so the parameter of the lower bound makes one condition of them.
            Comparison::Min(field) => one(Some(*field.of(filter)).filter(|bounds| !bounds.is_open()).map(Test::Within)),
            Comparison::MinShare(field) => one(field.of(filter).map(|least| Test::MinShare(stored(least)))),
            Comparison::MaxShare(field) => one(field.of(filter).map(|most| Test::MaxShare(stored(most)))),
            Comparison::From(field) => one(field.of(filter).map(Test::From)),
            Comparison::Before(field) => one(field.of(filter).map(Test::Before)),
            Comparison::Max(_) | Comparison::Best(_) | Comparison::Judging(_) => Vec::new(),
        }
    }

    fn of_criteria(
        &self,
        dimension: Dimension,
        scores: &BTreeMap<String, u8>,
        number: &mut impl FnMut(&str) -> Option<u32>,
        bounds: fn(u8) -> Bounds,
    ) -> Vec<Condition> {
        let condition = |(criterion, score): (&String, &u8)| Condition {
            name: format!("{}.{criterion}", self.field),
            dimension,
            criterion: Some(number(criterion).unwrap_or(NOTHING)),
            test: Test::Within(bounds(*score)),
        };
        scores.iter().map(condition).collect()
    }
}

/// Names that no row has are left out. If there are no others, the list is empty and nothing passes.
fn any_of<N>(names: &[N], number: impl FnMut(&N) -> Option<u32>) -> Option<Test> {
    let mut numbers: Vec<u32> = names.iter().filter_map(number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    (!names.is_empty()).then_some(Test::AnyOf(numbers))
}

/// With the precision of rows, so that 0.9 is at least 0.9.
#[expect(clippy::cast_possible_truncation, reason = "rows are no more exact")]
const fn stored(share: f64) -> f32 {
    share as f32
}
