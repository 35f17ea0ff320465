//! The proof of a workflow before money is spent: its stand-ins turn its samples into what the document says.

use std::collections::BTreeSet;

use std::ops::ControlFlow;
use std::sync::Arc;

use domain::seed::Seed;
use domain::task::{Request, Resolution, Task, advance};
use domain::workflow::{BuiltInEnd, Sample, ToolKind};
use serde_json::{Map, Value, json};

use crate::fold::Ending;
use crate::plan::{Expr, Place, Workflow};
use crate::row::{Responder, Row, RowError, RowEvent};

/// What became of a row that stand-ins played.
#[derive(Debug, Clone)]
pub struct SampleReport {
    pub ending: Ending,
    pub output: Option<Map<String, Value>>,
    pub events: Vec<RowEvent>,
    pub metrics: Vec<(String, Result<Value, String>)>,
}

/// Plays a row with the stand-ins of the workflow, and the passages beside it in place of an index.
///
/// # Errors
/// The input does not fit the workflow.
pub fn play_sample(workflow: &Arc<Workflow>, input: &Map<String, Value>, seed: i64) -> Result<SampleReport, RowError> {
    let mut row = Row::begin(workflow, input, Seed::new(seed, &workflow.spec.name, 0))?;
    let mut events = Vec::new();
    let answer = |row: &Row, request: &Request<Responder>| {
        Some(match &request.to {
            Responder::Model(_) | Responder::Tool(_) | Responder::Service(_) => row.stand_in(request),
            Responder::Index(_) => Resolution::Message(workflow.find(&row.message(request).unwrap_or_default())),
        })
    };
    advance(&mut row, answer, |_, event| {
        events.push(event);
        ControlFlow::Continue(())
    });
    let ending = row.ending().cloned();
    let ending = ending.unwrap_or_else(|| Ending::failed(BuiltInEnd::Unfinished, "it waits for nothing".to_owned()));
    let output = row.output().cloned();
    let metrics = output.as_ref().map(|output| workflow.metrics_of(input, output)).unwrap_or_default();
    Ok(SampleReport { ending, output, events, metrics })
}

impl SampleReport {
    /// Why this is not what the document says of the sample.
    pub fn differs_from(&self, sample: &Sample) -> Option<String> {
        let found = || match &self.output {
            Some(output) => format!("became {}", Value::Object(output.clone())),
            None if self.ending.reason.is_empty() => format!("ended as `{}`", self.ending.name),
            None => format!("ended as `{}`: {}", self.ending.name, self.ending.reason),
        };
        match (&sample.output, &sample.ends) {
            (_, Some(name)) if self.ending.name != *name => Some(format!("was to end as `{name}`, and {}", found())),
            (Some(expected), _) if !self.output.as_ref().is_some_and(|output| same_fields(output, expected)) => {
                Some(format!("was to become {}, and {}", json!(expected), found()))
            }
            (None, None) if !self.ending.success => Some(found()),
            _ => sample.metrics.iter().find_map(|(name, expected)| self.metric_differs(name, expected)),
        }
    }

    fn metric_differs(&self, name: &str, expected: &Value) -> Option<String> {
        let found = match self.metrics.iter().find(|(known, _)| known == name).map(|(_, value)| value) {
            Some(Ok(found)) if same(found, expected) => return None,
            Some(Ok(found)) => found.to_string(),
            Some(Err(reason)) => format!("not computed: {reason}"),
            None => "not there, since the row has no output".to_owned(),
        };
        Some(format!("its metric `{name}` was to be {expected}, and is {found}"))
    }
}

/// Whether values are the same: 1 and 1.0 are.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => same_fields(a, b),
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => a == b,
    }
}

fn same_fields(a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
}

impl Workflow {
    /// The figures of a row.
    pub fn metrics_of(
        &self,
        input: &Map<String, Value>,
        output: &Map<String, Value>,
    ) -> Vec<(String, Result<Value, String>)> {
        let figures = self.metrics.iter();
        figures.map(|(name, value)| (name.clone(), self.over_row(value, input, output))).collect()
    }

    /// The conversations that a row becomes for fine-tuning.
    ///
    /// # Errors
    /// The document's `messages` fail for this row.
    pub fn messages_of(&self, input: &Map<String, Value>, output: &Map<String, Value>) -> Result<Vec<Value>, String> {
        let Some(messages) = &self.messages else { return Ok(Vec::new()) };
        match self.over_row(messages, input, output)? {
            Value::Array(all) if all.iter().all(|one| one.is_array() || one.is_null()) => {
                Ok(all.into_iter().filter(Value::is_array).collect())
            }
            one => Ok(vec![one]),
        }
    }

    /// Preferred and rejected replies of a row.
    ///
    /// # Errors
    /// The document's `pairs` fail for this row.
    pub fn pairs_of(&self, input: &Map<String, Value>, output: &Map<String, Value>) -> Result<Vec<Value>, String> {
        let Some(pairs) = &self.pairs else { return Ok(Vec::new()) };
        match self.over_row(pairs, input, output)? {
            Value::Array(all) => Ok(all),
            _ => Err("`pairs` gives no list".to_owned()),
        }
    }

    /// An input with all of its columns.
    ///
    /// # Errors
    /// It does not fit the workflow.
    pub fn checked(&self, input: &Map<String, Value>) -> Result<Map<String, Value>, String> {
        let input = self.completed(input);
        self.input.check(&Value::Object(input.clone()), "").map(|()| input)
    }

    /// An input row with all columns that it may have: those that are missing are `None`.
    pub fn completed(&self, input: &Map<String, Value>) -> Map<String, Value> {
        let mut value = Value::Object(input.clone());
        self.input.complete(&mut value);
        match value {
            Value::Object(input) => input,
            _ => Map::new(),
        }
    }

    /// What is found among the passages beside the workflow, for `{query, k}`. If it has none, among those of `workflow`, which
    /// it uses.
    pub fn find(&self, message: &Value) -> Value {
        let used = || message["workflow"].as_str().and_then(|name| self.used(name));
        let with = if self.passages.is_empty() { used().unwrap_or(self) } else { self };
        with.passages.search(message)
    }

    /// A workflow that it uses, at any depth.
    fn used(&self, name: &str) -> Option<&Self> {
        self.called
            .get(name)
            .map(|called| &**called)
            .or_else(|| self.called.values().find_map(|called| called.used(name)))
    }

    /// The indexes that its steps search, also in the workflows that it uses.
    pub fn indexes(&self) -> Vec<&str> {
        let own = self.spec.indexes();
        own.into_iter().chain(self.called.values().flat_map(|called| called.indexes())).collect()
    }

    /// The indexes that its steps search, also in the workflows that it uses, for which no passages stand beside them.
    pub fn indexes_without_passages(&self) -> BTreeSet<&str> {
        let (mut all, mut found) = (vec![self], BTreeSet::new());
        while let Some(workflow) = all.pop().filter(|_| self.passages.is_empty()) {
            if workflow.passages.is_empty() {
                found.extend(workflow.spec.indexes());
            }
            all.extend(workflow.called.values().map(|called| &**called));
        }
        found
    }

    /// The registered tools that its steps and their models call, also in the workflows that it uses.
    pub fn tools(&self) -> BTreeSet<(ToolKind, String)> {
        let own = self.spec.tools().into_iter().map(|(kind, name)| (kind, name.to_owned()));
        own.chain(self.called.values().flat_map(|called| called.tools())).collect()
    }

    /// The services that answer tools in the conversations that its steps play, also in the workflows that it uses.
    pub fn services(&self) -> BTreeSet<String> {
        let own = self.cases.iter().flat_map(|cases| cases.services());
        own.chain(self.called.values().flat_map(|called| called.services())).collect()
    }

    /// Whether it plays scenarios, also in the workflows that it uses.
    pub fn converses(&self) -> bool {
        self.spec.converses() || self.called.values().any(|called| called.converses())
    }

    /// The workflows that it uses.
    pub fn called(&self) -> impl Iterator<Item = &Arc<Self>> {
        self.called.values()
    }

    /// All roles that a row asks, also in the workflows that it uses.
    pub fn all_roles(&self) -> BTreeSet<String> {
        let own = self.spec.roles().into_iter().map(str::to_owned);
        own.chain(self.called.values().flat_map(|called| called.all_roles())).collect()
    }

    /// Whether a role or a tool has a stand-in wherever it is asked.
    pub fn has_stand_in(&self, name: &str) -> bool {
        let is_asked =
            self.spec.prompted_roles().contains(&name) || self.spec.tools().iter().any(|(_, tool)| *tool == name);
        let own = !is_asked || self.spec.stand_ins.contains_key(name);
        own && self.called.values().all(|called| called.has_stand_in(name))
    }

    fn over_row(&self, of: &Expr, input: &Map<String, Value>, output: &Map<String, Value>) -> Result<Value, String> {
        let row = [Value::Object(self.completed(input)).into(), Value::Object(output.clone()).into()];
        let value = of.evaluate(&self.code, &|of| match of.place {
            Place::Binding(place) => crate::datum::Datum::clone(&row[place]),
            Place::Step(_) => Value::Null.into(),
        })?;
        Ok(value.json().clone())
    }
}
