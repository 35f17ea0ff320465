//! Workflows as they are drawn, their runs, and what their rows became.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strum::{Display, IntoStaticStr};
use utoipa::ToSchema;

use crate::analytics::Interval;
use crate::budget::Budget;
use crate::timing::{RequestTiming, TimeBreakdown};

/// An order for a run of a workflow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkflowOrder {
    /// The input rows, at most 10,000; default: the inputs of the workflow's samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<Map<String, Value>>>,
    /// In place of `rows`: rows of a dataset of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset: Option<DatasetRows>,
    /// Index that the workflow searches -> index of the project; default: the passages beside the workflow.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub indexes: BTreeMap<String, String>,
    /// Input of the workflow -> the column that it is taken from, where the names differ.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, String>,
    /// Role -> `scripted` (the workflow's stand-in) or the name of a model; default: `scripted`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, String>,
    /// Seed from which everything random is derived; default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// How often a row is played again that no model answered; default: 2.
    #[schema(maximum = 100)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<u32>,
    /// Of the runs of a project, those of higher priority are played first.
    #[serde(skip_serializing_if = "is_default")]
    pub priority: i32,
    /// Rows that all players together play at once.
    #[schema(minimum = 1)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<i32>,
    /// Caps at which the run pauses.
    #[serde(skip_serializing_if = "is_default")]
    pub budget: Budget,
    /// Wait for whole replies before anything that follows from them is asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_streaming: bool,
    /// Do not begin before the run is resumed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// Play only this many rows, then pause. The forecast of the whole run is made from them.
    #[schema(minimum = 1)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<i32>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Rows of a dataset, from a position on, or a sample of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(as = DatasetRange)]
pub struct DatasetRows {
    pub name: String,
    /// Default: the newest version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    /// Position of the first row, from 0; default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// How many rows; default: all from there on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Only so many of these rows, drawn at random. They keep their order.
    #[schema(minimum = 1)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<u64>,
    /// Seed of the sample: the same seed draws the same rows. Default: the seed of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
}

/// A row that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OutputRow {
    /// Place in its run, from 0.
    pub position: i32,
    /// `finished`, the name of an `end`, or what went wrong.
    pub ended: String,
    pub accepted: bool,
    /// Why the row was not accepted, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    pub input: Map<String, Value>,
    /// Of a row that was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Map<String, Value>>,
    /// Figures of the workflow over the row.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metrics: Map<String, Value>,
    /// Roles and tools that stand-ins played instead of models and services.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub stand_ins: BTreeSet<String>,
}

/// Which rows of a run are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct OutputRowParams {
    /// The first position; default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<i32>,
    /// How many positions are looked at, at most 200; default: 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
}

/// A question to a workflow: one input row, whose output somebody waits for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewAnswer {
    pub input: Map<String, Value>,
    /// Role -> `scripted` (the workflow's stand-in) or the name of a model; default: `scripted`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, String>,
    /// Index that the workflow searches -> index of the project; default: the passages beside the workflow.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub indexes: BTreeMap<String, String>,
    /// Seed from which everything random is derived; default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// Caps at which no more is asked.
    #[serde(skip_serializing_if = "is_default")]
    pub budget: Budget,
}

/// A part of an answer that is known before the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AnswerItem {
    /// A field of the output.
    pub field: String,
    /// If the field is a list, the place of this item, from 0. The items of a list come in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    pub value: Value,
}

/// The answer of a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorkflowAnswer {
    /// Id of the run of one row that played it: `GET /runs/{run}/rows` answers the same later.
    pub run: String,
    /// `finished`, the name of an `end`, or what went wrong.
    pub ended: String,
    pub accepted: bool,
    /// Why the row was not accepted, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Of an answer that was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Map<String, Value>>,
}

/// An answer that takes long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PendingAnswer {
    /// Id of the run of one row that plays it: `GET /runs/{run}/rows` has the answer once it is there.
    pub run: String,
}

/// How many answers a workflow gave in the last 24 hours, and how long they took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AnswerTimes {
    /// Answers that have ended.
    pub ended: i64,
    /// Those of them that were accepted.
    pub accepted: i64,
    /// Answers that somebody waits for.
    pub in_progress: i64,
    /// Seconds from the request to the end of half of the answers; of no answers there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_seconds: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p90_seconds: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_seconds: Option<f64>,
}

/// Metrics and times over the rows of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RowsSummary {
    /// Rows that have ended and that the figures are of.
    pub rows: u64,
    /// Whether these are a sample: at most 50,000 rows are looked at, drawn by the run's seed.
    pub sampled: bool,
    /// Of the workflow, in its order.
    pub metrics: Vec<MetricSummary>,
    /// Absent while no row has ended that was played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeBreakdown>,
}

/// A metric of a workflow over the rows of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MetricSummary {
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Over the rows that were accepted.
    pub accepted: MetricFigure,
    /// Over all rows that have an output.
    pub all: MetricFigure,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MetricFigure {
    /// Rows with a value.
    pub count: u64,
    /// Rows for which the metric has no value: it could not be computed, or is no boolean and no finite number.
    pub without_value: u64,
    /// Of booleans the share that is true. Absent without a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Of 95 % confidence: Wilson's score interval if all values are booleans, else Student's t. Absent for a single number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Whether all values are booleans.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub boolean: bool,
}

/// A row with what was asked for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RowTrace {
    /// How it ended; absent while it is being played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<OutputRow>,
    /// From 1; more if it was played again.
    pub attempt: i32,
    /// Answered requests in the order in which they were made, the first 2,000 of them.
    pub requests: Vec<RequestTrace>,
    /// Requests that are not listed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub more: u64,
}

/// A request of a row, and how it was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RequestTrace {
    /// Its address, as in `checked[3].found[0].docs`.
    pub step: String,
    /// Of several replies that the step asks for, from 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sample: u32,
    /// How often it was asked before with the same prompt, or with a reason why the reply could not be used.
    #[serde(default, skip_serializing_if = "is_default")]
    pub attempt: u32,
    pub answer: AnswerKind,
    /// Tokens read and written.
    #[serde(default, skip_serializing_if = "is_default")]
    pub prompt_tokens: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub completion_tokens: u64,
    /// Absent of rows that an older version of the program played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<RequestTiming>,
}

/// How a request of a row was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum AnswerKind {
    /// A model replied.
    Replied,
    /// The reply of a model came to no end.
    CutOff,
    /// An index found passages.
    Found,
    /// A tool answered, or could not.
    Called,
    /// There was no answer.
    Lost,
}

/// Which texts of a workflow are drawn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DrawWorkflow {
    /// Path within the project -> text: files that replace the saved ones.
    pub drafts: BTreeMap<String, String>,
}

/// The steps of a workflow, and what each of them reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkflowGraph {
    pub inputs: Vec<String>,
    /// In the order of the document.
    pub steps: Vec<GraphStep>,
    /// Addresses of the inputs and steps that the output reads.
    pub output: Vec<String>,
}

/// A step of a workflow, with the steps within it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GraphStep {
    /// Names of the steps around it and its own, with dots between them: `checked.queries`.
    pub address: String,
    pub kind: StepKind,
    /// Who is asked, the index that is searched, the tool or workflow that is called, the name of the item, the rounds of a loop, or
    /// how rows end.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// It is done only if its condition holds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conditional: bool,
    /// Addresses of the inputs and steps that it reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// Address of the `end` before it: it waits until it is clear that the row goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The steps of a map or loop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(no_recursion)]
    pub steps: Vec<GraphStep>,
}

impl GraphStep {
    /// The last part of its address.
    pub fn name(&self) -> &str {
        self.address.rsplit('.').next().unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[derive(Display, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum StepKind {
    Ask,
    Code,
    Search,
    Embed,
    Rerank,
    Tool,
    Converse,
    Map,
    Loop,
    Call,
    End,
}
