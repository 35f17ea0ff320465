//! Which column holds the values of each dimension.

use domain::filter::{Dimension, Value};
use domain::reward::SolveRate;

use super::columns::{ANNOTATED, CORRECTED, Columns, RATED, ScenarioNames, present, unpack_state};

/// The column that holds a dimension. A column with few distinct values has a function that says what each of them means: it is
/// called once for each distinct value, never for each row.
pub enum Column<'a> {
    /// All rows have the same value.
    Same(Value<'a>),
    Bytes(&'a [u8], Reader<'a, u8>),
    /// Numbers below this bound; a row with another number has no value.
    Numbers(&'a [u32], u32, Reader<'a, u32>),
    Shorts(&'a [u16]),
    Shares(&'a [f32]),
    /// Microseconds since 1970.
    Times(&'a [i64]),
}

type Reader<'a, T> = Box<dyn Fn(T) -> Value<'a> + 'a>;

impl Columns {
    /// `criterion` is a name of the run and used with [`Dimension::Score`] only; `None` is the overall score.
    pub fn column(&self, dimension: Dimension, criterion: Option<u32>) -> Column<'_> {
        match dimension {
            Dimension::Run => Column::Same(Value::Name(self.run_name)),
            Dimension::Model => Column::Same(Value::Names(&self.models)),
            Dimension::Scenario => self.by_scenario(|scenario| Value::Name(scenario.name)),
            Dimension::Family => self.by_scenario(|scenario| Value::Name(scenario.family)),
            Dimension::Tag => self.by_scenario(|scenario| Value::Names(&scenario.tags)),
            Dimension::Playbook => self.by_scenario(|scenario| Value::Name(scenario.playbook)),
            Dimension::Persona => self.by_name(&self.persona),
            Dimension::Ending => self.by_name(&self.ending),
            Dimension::Complexity => bytes(&self.complexity, |place| Value::Name(place.into())),
            Dimension::Outcome => bytes(&self.state, |state| match unpack_state(state) {
                Some((status, _)) => Value::Name(status as u32),
                None => Value::Missing,
            }),
            Dimension::Blame => bytes(&self.state, |state| match unpack_state(state) {
                Some((_, Some(blame))) => Value::Name(blame as u32),
                _ => Value::Missing,
            }),
            Dimension::Reason => {
                numbers(&self.reason, self.reasons.len(), |reason| Value::Text(self.reasons.name(reason)))
            }
            Dimension::Tool => {
                numbers(&self.tools, self.tool_sets.len(), |set| Value::Names(&self.tool_sets[set as usize]))
            }
            Dimension::Score => match self.scores_of(criterion) {
                Some(scores) => bytes(scores, |score| match present(score) {
                    Some(score) => Value::Number(score.into()),
                    None => Value::Missing,
                }),
                None => Column::Same(Value::Missing),
            },
            Dimension::GoalAchieved => flags(&self.goal_achieved),
            Dimension::Verified => flags(&self.verified),
            Dimension::Rated => self.by_review(RATED),
            Dimension::Annotated => self.by_review(ANNOTATED),
            Dimension::Corrected => self.by_review(CORRECTED),
            Dimension::Agreement => Column::Shares(&self.agreement),
            Dimension::SolveRate => {
                let rates = self.solve_rates();
                #[expect(clippy::cast_possible_truncation, reason = "as exact as all shares of rows")]
                let value =
                    move |rate: SolveRate| rate.share().map_or(Value::Missing, |share| Value::Share(share as f32));
                numbers(&self.scenario, self.scenarios.len(), move |scenario| value(rates[scenario as usize]))
            }
            Dimension::Finished => Column::Times(&self.finished),
            Dimension::Turns => Column::Shorts(&self.turns),
            Dimension::ToolCalls => Column::Shorts(&self.tool_calls),
        }
    }

    fn by_scenario<'a>(&'a self, read: impl Fn(&'a ScenarioNames) -> Value<'a> + 'a) -> Column<'a> {
        numbers(&self.scenario, self.scenarios.len(), move |number| read(&self.scenarios[number as usize]))
    }

    fn by_name<'a>(&self, column: &'a [u32]) -> Column<'a> {
        numbers(column, self.names.len(), Value::Name)
    }

    fn by_review(&self, bit: u8) -> Column<'_> {
        bytes(&self.reviewed, move |did| Value::Flag(did & bit != 0))
    }
}

fn bytes<'a>(column: &'a [u8], read: impl Fn(u8) -> Value<'a> + 'a) -> Column<'a> {
    Column::Bytes(column, Box::new(read))
}

fn flags(column: &[u8]) -> Column<'_> {
    bytes(column, |flag| present(flag).map_or(Value::Missing, |flag| Value::Flag(flag == 1)))
}

fn numbers<'a>(column: &'a [u32], len: usize, read: impl Fn(u32) -> Value<'a> + 'a) -> Column<'a> {
    Column::Numbers(column, u32::try_from(len).unwrap_or(u32::MAX), Box::new(read))
}
