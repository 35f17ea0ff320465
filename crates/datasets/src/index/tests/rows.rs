//! Runs made up of a few different conversations, and filters of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, Utc};
use domain::filter::{Comparison, Dimension, Filter, PARAMETERS, Parameter, ReviewFlags, Row, Status, Symbols, Value};
use domain::outcome::Blame;
use domain::persona::Complexity;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use strum::VariantArray;
use uuid::Uuid;

use crate::index::columns::{Columns, RowValues, VerdictValues};
use crate::index::scenario_columns::ScenarioColumns;

/// The last of each names nothing that there is.
const SCENARIOS: [&str; 4] = ["refund_late", "refund", "card_abroad", "never_seen"];
const PERSONAS: [&str; 4] = ["calm", "angry", "refund", "nobody"];
const TOOLS: [&str; 4] = ["find", "book", "cancel", "no_tool"];
const ENDINGS: [&str; 4] = ["user_ended", "walked_out", "terminal", "nothing"];
const CRITERIA: [&str; 3] = ["goal", "tone", "unknown"];
const REASONS: [&str; 3] = ["overall 6 is below 7", "overall 5 is below 7", "endpoint down"];

/// A conversation, as it is put into columns.
#[derive(Debug, Clone)]
pub struct TestRow {
    scenario: &'static str,
    persona: &'static str,
    complexity: Complexity,
    status: Status,
    blame: Option<Blame>,
    reason: Option<&'static str>,
    finished: Option<DateTime<Utc>>,
    ending: Option<&'static str>,
    turns: Option<u32>,
    tool_calls: Option<u32>,
    tools: Vec<&'static str>,
    verified: Option<bool>,
    goal_achieved: Option<bool>,
    overall: Option<u8>,
    scores: BTreeMap<&'static str, u8>,
    agreement: Option<f32>,
    reviewed: ReviewFlags,
}

/// A run whose rows are some conversations, each of them many times. `None`: a position that has not begun.
#[derive(Debug, Clone)]
pub struct TestRun {
    pub id: Uuid,
    models: [&'static str; 2],
    conversations: Vec<Option<TestRow>>,
    order: Vec<usize>,
}

/// A conversation in the numbers of a run's columns.
pub struct SeenRow<'a> {
    row: &'a TestRow,
    solve_rate: Option<f32>,
    numbers: BTreeMap<Dimension, Vec<u32>>,
    names: &'a Symbols,
}

fn row() -> impl Strategy<Value = TestRow> {
    let fixed = (select(&SCENARIOS[..3]), select(&PERSONAS[..3]), select(Complexity::VARIANTS));
    let failure = (select(Blame::VARIANTS), option::of(select(&REASONS[..])));
    let outcome = (select(Status::VARIANTS), failure, option::of(any::<bool>()), option::of(time()));
    let length = (option::of(0..12_u32), option::of(0..5_u32), option::of(select(&ENDINGS[..3])));
    let scores = vec(option::of(0..=10_u8), 2);
    let verdict = (option::of(0..=10_u8), scores, option::of(any::<bool>()), option::of((0..=10_u8).prop_map(tenths)));
    let tools = subsequence(&TOOLS[..3], 0..=3);
    (fixed, outcome, length, verdict, tools, any::<[bool; 3]>()).prop_map(
        |(fixed, (status, (blame, reason), verified, finished), length, verdict, tools, reviewed)| {
            let failed = status == Status::Failed;
            let scores = CRITERIA.iter().zip(verdict.1).filter_map(|(name, score)| Some((*name, score?)));
            TestRow {
                scenario: fixed.0,
                persona: fixed.1,
                complexity: fixed.2,
                status,
                blame: failed.then_some(blame),
                reason: reason.filter(|_| failed),
                finished,
                ending: length.2,
                turns: length.0,
                tool_calls: length.1,
                tools,
                verified,
                goal_achieved: verdict.2,
                overall: verdict.0,
                scores: scores.collect(),
                agreement: verdict.3,
                reviewed: ReviewFlags { rated: reviewed[0], annotated: reviewed[1], corrected: reviewed[2] },
            }
        },
    )
}

pub fn run(id: u128, rows: usize) -> impl Strategy<Value = TestRun> {
    let models = if id == 1 { ["qwen", "agent:qwen"] } else { ["gpt-x", "agent:gpt-x"] };
    let conversations = vec(option::weighted(0.9, row()), 1..40);
    (conversations, vec(0..40_usize, 1..=rows)).prop_map(move |(conversations, mut order)| {
        order.iter_mut().for_each(|place| *place %= conversations.len());
        TestRun { id: Uuid::from_u128(id), models, conversations, order }
    })
}

/// Few, so that many are the same.
fn time() -> impl Strategy<Value = DateTime<Utc>> {
    (0..9_u32).prop_map(|half| DateTime::from_timestamp(1_800_000_000, 500_000 * half).unwrap())
}

fn tenths(n: u8) -> f32 {
    f32::from(n) / 10.0
}

impl TestRun {
    pub fn columns(&self) -> Arc<Columns> {
        let scenarios = ["refund", "card_abroad"].map(|id| (id.to_owned(), documented(id)));
        let models = self.models.map(str::to_owned);
        let mut columns = Columns::new(self.id, "bank", &models, Arc::new(scenarios.into()));
        columns.grow(self.order.len());
        for (position, row) in self.rows().enumerate() {
            let Some(row) = row else { continue };
            let tools: Vec<String> = row.tools.iter().map(|tool| (*tool).to_owned()).collect();
            columns.put(
                position,
                &RowValues {
                    id: Uuid::from_u128(self.id.as_u128() * 1_000_000 + position as u128),
                    scenario: row.scenario,
                    repeat: 0,
                    persona: row.persona,
                    complexity: row.complexity,
                    status: Some(row.status),
                    blame: row.blame,
                    reason: row.reason,
                    finished: row.finished,
                    ending: row.ending,
                    turns: row.turns,
                    tool_calls: row.tool_calls,
                    tools: &tools,
                    verified: row.verified,
                },
            );
            let scores: Vec<(u32, u8)> =
                row.scores.iter().map(|(name, score)| (columns.names.intern(name), *score)).collect();
            columns.set_verdict(
                position,
                &VerdictValues {
                    overall: row.overall,
                    goal_achieved: row.goal_achieved,
                    scores: &scores,
                    weighted_mean: Some(7.25),
                    agreement: row.agreement,
                },
            );
            columns.set_review(position, row.reviewed);
        }
        Arc::new(columns)
    }

    /// By position.
    pub fn rows(&self) -> impl Iterator<Item = Option<&TestRow>> {
        self.order.iter().map(|place| self.conversations[*place].as_ref())
    }

    /// Each position that has begun, with what `judge` says of its conversation, which it is asked once.
    pub fn judged<'a, T: Clone + 'a>(
        &'a self,
        columns: &'a Columns,
        judge: impl Fn(&SeenRow<'_>) -> T,
    ) -> impl Iterator<Item = (usize, T)> + 'a {
        let said = self.said(columns, judge);
        self.order.iter().enumerate().filter_map(move |(position, place)| Some((position, said[*place].clone()?)))
    }

    /// The result of `judge` for each conversation, with the number of positions that show it.
    pub fn counted<'a, T: 'a>(
        &'a self,
        columns: &'a Columns,
        judge: impl Fn(&SeenRow<'_>) -> T,
    ) -> impl Iterator<Item = (T, u64)> + 'a {
        let mut times = vec![0; self.conversations.len()];
        self.order.iter().for_each(|place| times[*place] += 1);
        self.said(columns, judge)
            .into_iter()
            .zip(times)
            .filter(|(_, n)| *n > 0)
            .filter_map(|(said, n)| Some((said?, n)))
    }

    /// By scenario.
    fn solve_rates(&self) -> BTreeMap<&'static str, Option<f32>> {
        let mut rewards: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
        // Also those that stand nowhere are asked about.
        for row in self.conversations.iter().flatten() {
            rewards.entry(row.scenario).or_default();
        }
        for row in self.rows().flatten().filter(|row| row.status != Status::Unfinished) {
            let own = rewards.entry(row.scenario).or_default();
            own.extend(domain::reward::reward(row.blame, row.verified == Some(true)));
        }
        let rate = |own: Vec<u8>| {
            let solved: usize = own.iter().copied().map(usize::from).sum();
            #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as in columns")]
            (!own.is_empty()).then(|| (solved as f64 / own.len() as f64) as f32)
        };
        rewards.into_iter().map(|(scenario, own)| (scenario, rate(own))).collect()
    }

    fn said<T>(&self, columns: &Columns, judge: impl Fn(&SeenRow<'_>) -> T) -> Vec<Option<T>> {
        let rates = self.solve_rates();
        let judge = |row: &TestRow| judge(&SeenRow::new(self, row, columns, rates[row.scenario]));
        self.conversations.iter().map(|row| row.as_ref().map(&judge)).collect()
    }
}

/// The family, tags and playbook of a scenario that the documents of the run have.
fn documented(scenario: &str) -> ScenarioColumns {
    let (family, tags, playbook): (&str, &[&str], &str) = match scenario {
        "refund" => ("refunds", &["money"], "shop"),
        "card_abroad" => ("cards", &["card", "money"], "bank"),
        other => (other, &[], "bank"),
    };
    ScenarioColumns {
        family: family.to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        playbook: playbook.to_owned(),
    }
}

impl<'a> SeenRow<'a> {
    fn new(run: &TestRun, row: &'a TestRow, columns: &'a Columns, solve_rate: Option<f32>) -> Self {
        let number = |dimension: Dimension, name: &String| match dimension.words() {
            Some(words) => words.iter().position(|word| word == name).map(|place| u32::try_from(place).unwrap()),
            None => columns.names.get(name),
        };
        let numbers = Dimension::VARIANTS.iter().map(|dimension| {
            let names = row.names(run, *dimension);
            (*dimension, names.iter().filter_map(|name| number(*dimension, name)).collect())
        });
        Self { row, solve_rate, numbers: numbers.collect(), names: &columns.names }
    }

    pub fn scenario(&self) -> &str {
        self.row.scenario
    }

    /// How a query writes what it has of a dimension that is counted.
    pub fn written(&self, dimension: Dimension, criterion: Option<u32>) -> BTreeSet<String> {
        match self.value(dimension, criterion) {
            Value::Names(numbers) => numbers
                .iter()
                .map(|number| match dimension.words() {
                    Some(words) => words[*number as usize].to_owned(),
                    None => self.names.name(*number).to_owned(),
                })
                .collect(),
            Value::Flag(flag) => [flag.to_string()].into(),
            Value::Number(number) => [number.to_string()].into(),
            _ => BTreeSet::new(),
        }
    }
}

impl TestRow {
    fn names(&self, run: &TestRun, dimension: Dimension) -> Vec<String> {
        let scenario = documented(self.scenario);
        match dimension {
            Dimension::Run => vec![run.id.to_string()],
            Dimension::Model => run.models.map(str::to_owned).to_vec(),
            Dimension::Scenario => vec![self.scenario.to_owned()],
            Dimension::Family => vec![scenario.family],
            Dimension::Tag => scenario.tags,
            Dimension::Playbook => vec![scenario.playbook],
            Dimension::Persona => vec![self.persona.to_owned()],
            Dimension::Complexity => vec![self.complexity.to_string()],
            Dimension::Outcome => vec![self.status.to_string()],
            Dimension::Blame => self.blame.iter().map(ToString::to_string).collect(),
            Dimension::Ending => self.ending.iter().map(ToString::to_string).collect(),
            Dimension::Tool => self.tools.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        }
    }
}

impl Row for SeenRow<'_> {
    fn value(&self, dimension: Dimension, criterion: Option<u32>) -> Value<'_> {
        let number = |number: Option<u32>| number.map_or(Value::Missing, Value::Number);
        let flag = |flag: Option<bool>| flag.map_or(Value::Missing, Value::Flag);
        let row = self.row;
        match dimension {
            Dimension::Reason => row.reason.map_or(Value::Missing, Value::Text),
            Dimension::Finished => row.finished.map_or(Value::Missing, Value::Time),
            Dimension::Turns => number(row.turns),
            Dimension::ToolCalls => number(row.tool_calls),
            Dimension::Score => number(match criterion {
                None => row.overall.map(u32::from),
                Some(criterion) => row.scores.get(self.names.name(criterion)).copied().map(u32::from),
            }),
            Dimension::GoalAchieved => flag(row.goal_achieved),
            Dimension::Verified => flag(row.verified),
            Dimension::Rated => Value::Flag(row.reviewed.rated),
            Dimension::Annotated => Value::Flag(row.reviewed.annotated),
            Dimension::Corrected => Value::Flag(row.reviewed.corrected),
            Dimension::Agreement => row.agreement.map_or(Value::Missing, Value::Share),
            Dimension::SolveRate => self.solve_rate.map_or(Value::Missing, Value::Share),
            names => Value::Names(&self.numbers[&names]),
        }
    }
}

/// Filters that ask for a few things each; all of it together would let nothing pass.
pub fn filter() -> impl Strategy<Value = Filter> {
    let asked = PARAMETERS.iter().map(|parameter| option::weighted(0.08, values(parameter)));
    asked.collect::<Vec<_>>().prop_map(|asked| {
        let asked = PARAMETERS.iter().zip(&asked).filter_map(|(parameter, values)| Some((parameter, values.as_ref()?)));
        let pairs = asked.flat_map(|(parameter, values)| values.iter().map(|value| (parameter.name, value.as_str())));
        let (filter, problems) = Filter::from_query(pairs);
        assert!(problems.is_empty(), "{problems:?}");
        filter
    })
}

/// Filters that ask for one thing.
pub fn filter_by(parameter: &'static Parameter) -> impl Strategy<Value = Filter> {
    values(parameter).prop_map(|values| {
        let (filter, problems) = Filter::from_query(values.iter().map(|value| (parameter.name, value.as_str())));
        assert!(problems.is_empty(), "{problems:?}");
        filter
    })
}

fn values(parameter: &Parameter) -> BoxedStrategy<Vec<String>> {
    fn one(value: impl Strategy<Value = impl ToString> + 'static) -> BoxedStrategy<Vec<String>> {
        value.prop_map(|value| vec![value.to_string()]).boxed()
    }
    fn some(names: Vec<String>) -> BoxedStrategy<Vec<String>> {
        let most = names.len();
        subsequence(names, 1..=most).boxed()
    }
    let share = (1..=10_u8).prop_map(|n| f64::from(n) / 10.0);
    match &parameter.comparison {
        Comparison::AnyOf(_) | Comparison::AllOf(_) => some(names(parameter.dimension.unwrap())),
        Comparison::Words(_) => {
            let words = parameter.dimension.and_then(Dimension::words).unwrap();
            some(words.iter().map(|word| (*word).to_owned()).collect())
        }
        Comparison::Contains(_) => one(select(vec!["overall", "5", "endpoint down", "else"])),
        Comparison::Is(_) => one(any::<bool>()),
        Comparison::MinScore(_) | Comparison::MaxScore(_) => one(0..=10_u8),
        Comparison::MinScores(_) | Comparison::MaxScores(_) => {
            one((select(&CRITERIA[..]), 0..=10_u8).prop_map(|(criterion, score)| format!("{criterion}:{score}")))
        }
        Comparison::Min(_) | Comparison::Max(_) => one(prop_oneof![9 => 0..12_u32, 1 => Just(u32::MAX)]),
        Comparison::MinShare(_) | Comparison::MaxShare(_) => one(share),
        Comparison::From(_) | Comparison::Before(_) => {
            one(time().prop_map(|time| time.to_rfc3339_opts(SecondsFormat::AutoSi, true)))
        }
        Comparison::Best(_) => one((option::of(select(&CRITERIA[..])), share).prop_map(|(criterion, share)| {
            criterion.map_or_else(|| share.to_string(), |criterion| format!("{criterion}:{share}"))
        })),
        // Which judging counts is decided before columns are read.
        Comparison::Judging(_) => Just(Vec::new()).boxed(),
    }
}

/// Names to ask for, one of which no row has.
fn names(dimension: Dimension) -> Vec<String> {
    let names: &[&str] = match dimension {
        Dimension::Run => return [1, 2, 3].map(|id| Uuid::from_u128(id).to_string()).to_vec(),
        Dimension::Model => &["qwen", "agent:gpt-x", "judge:qwen"],
        Dimension::Scenario => &SCENARIOS,
        Dimension::Family => &["refunds", "refund_late", "cards", "no_family"],
        Dimension::Tag => &["money", "card", "no_tag"],
        Dimension::Playbook => &["bank", "shop", "no_playbook"],
        Dimension::Persona => &PERSONAS,
        Dimension::Ending => &ENDINGS,
        Dimension::Tool => &TOOLS,
        other => panic!("there are no names of {other} to ask for"),
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}
