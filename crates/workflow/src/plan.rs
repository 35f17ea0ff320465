//! A compiled workflow: what the fold reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::role::{Role, RoleId};
use domain::workflow::Workflow as Document;
use engine::Cases;
use engine::tools::Code;
use indexmap::IndexMap;
use jsonschema::Validator;
use minijinja::Environment;
use serde_json::{Map, Value};

use crate::choices::Choices;
use crate::datum::Datum;
use crate::passages::Passages;
use crate::split::Split;
use crate::types::Type;

/// A workflow that was read, checked and compiled.
pub struct Workflow {
    pub spec: Document,
    pub input: Type,
    /// Of rows that end where the document ends.
    pub output_type: Type,
    /// All lists of steps; the first one is the document's own.
    pub(crate) blocks: Vec<Block>,
    pub(crate) output: Expr,
    pub(crate) code: Code,
    pub(crate) templates: Environment<'static>,
    pub(crate) called: BTreeMap<String, Arc<Workflow>>,
    pub(crate) metrics: IndexMap<String, Expr>,
    pub(crate) messages: Option<Expr>,
    pub(crate) pairs: Option<Expr>,
    /// Of rows that are accepted at an `end`.
    pub(crate) ended_types: Vec<Type>,
    /// Whether a row may end without an output.
    pub(crate) may_end: bool,
    /// In place of an index.
    pub(crate) passages: Passages,
    /// The lines of its samples in the document.
    pub sample_lines: Vec<usize>,
    /// Of a workflow that plays scenarios.
    pub(crate) cases: Option<Arc<Cases>>,
}

/// A list of steps, with the names that it sees beside them.
#[derive(Debug)]
pub(crate) struct Block {
    /// Inputs, the item of a map, the state of a loop.
    pub bindings: Vec<String>,
    pub steps: Vec<Step>,
}

#[derive(Debug)]
pub(crate) struct Step {
    pub name: String,
    pub when: Option<Expr>,
    /// The `end` before it in its list: it must be clear that the row goes on.
    pub barrier: Option<usize>,
    pub action: Action,
    /// What its action reads, so that it waits for it.
    pub reads: Vec<Ref>,
}

impl Step {
    /// The last step of a map or loop whose `yields`, `next` or `until` read steps around it. It waits for them, so that an item
    /// or a round is complete only when they are there. The document does not have it.
    pub const fn join(reads: Vec<Ref>) -> Self {
        Self { name: String::new(), when: None, barrier: None, action: Action::Join, reads }
    }

    pub const fn is_join(&self) -> bool {
        matches!(self.action, Action::Join)
    }
}

#[derive(Debug)]
pub(crate) enum Action {
    Ask(Box<Ask>),
    Code(Expr),
    Search(Search),
    Embed(Embed),
    Rerank(Rerank),
    Tool(Box<ToolCall>),
    Converse(Box<Converse>),
    Map(Map_),
    Loop(Loop),
    Call(Call),
    End(End),
    /// See [`Step::join`].
    Join,
}

impl Action {
    /// The list of steps of a map or loop.
    pub const fn block(&self) -> Option<usize> {
        match self {
            Self::Map(map) => Some(map.block),
            Self::Loop(own) => Some(own.block),
            _ => None,
        }
    }

    /// What the items of a map or the rounds of a loop read of the lists around them when they are complete, as it is seen from
    /// within.
    pub fn reads_when_complete(&self) -> Vec<Ref> {
        let mut found = Vec::new();
        let next = match self {
            Self::Map(map) => {
                map.yields.reads(&mut found);
                &map.next
            }
            Self::Loop(own) => {
                own.until.iter().for_each(|until| until.reads(&mut found));
                &own.next
            }
            _ => return found,
        };
        next.iter().flatten().for_each(|of| of.reads(&mut found));
        found.retain(|of| of.up > 0);
        found
    }
}

#[derive(Debug)]
pub(crate) struct Ask {
    pub role: RoleOf,
    pub system: Option<String>,
    pub prompt: Prompt,
    pub schema: Option<ReplyShape>,
    pub choices: Option<Choices>,
    pub split: Option<Split>,
    pub most: usize,
    pub n: Option<u32>,
    pub temperature: f32,
    pub max_tokens: u32,
    pub repairs: u32,
    pub otherwise: Option<Expr>,
    pub tools: Vec<Tool>,
    pub rounds: u32,
    /// What its templates see: name -> where it stands.
    pub context: Vec<(String, Ref)>,
}

#[derive(Debug)]
pub(crate) enum RoleOf {
    One(RoleId),
    OneOf(Expr, Vec<String>),
}

#[derive(Debug)]
pub(crate) enum Prompt {
    /// A template, by its name.
    Template(String),
    Messages(Expr),
}

#[derive(Debug)]
pub(crate) struct ReplyShape {
    pub schema: Value,
    pub of: Type,
    pub validator: Validator,
}

#[derive(Debug)]
pub(crate) struct Tool {
    pub name: String,
    pub function: Arc<Value>,
    pub validator: Validator,
    pub does: ToolAction,
}

#[derive(Debug)]
pub(crate) enum ToolAction {
    Code(String),
    Workflow(String),
    /// A registered server or endpoint: the block whose one step calls it, with the arguments as its binding.
    Registered(usize),
}

#[derive(Debug)]
pub(crate) struct Search {
    pub index: String,
    pub query: Expr,
    pub k: u32,
}

#[derive(Debug)]
pub(crate) struct Embed {
    pub role: RoleId,
    pub texts: Expr,
    pub otherwise: Option<Expr>,
}

#[derive(Debug)]
pub(crate) struct Rerank {
    pub role: RoleId,
    pub query: Expr,
    pub documents: Expr,
    pub k: usize,
    pub otherwise: Option<Expr>,
}

#[derive(Debug)]
pub(crate) struct ToolCall {
    /// Under which the server or endpoint is registered.
    pub name: String,
    /// What is sent: `{tool, arguments}` or `{body}`.
    pub message: Expr,
    pub shape: Option<ReplyShape>,
    pub otherwise: Option<Expr>,
    /// Whether a model makes the call. It is told what goes wrong.
    pub by_model: bool,
}

#[derive(Debug)]
pub(crate) struct Converse {
    pub scenario: Expr,
    pub persona: Option<Expr>,
    /// Who plays each role of the conversation.
    pub roles: BTreeMap<Role, RoleId>,
}

/// A map over a list.
#[derive(Debug)]
pub(crate) struct Map_ {
    pub over: Expr,
    pub block: usize,
    pub most: usize,
    pub yields: Expr,
    /// One item after the other, with a state.
    pub in_order: bool,
    pub state: Vec<Expr>,
    pub next: Vec<Option<Expr>>,
}

#[derive(Debug)]
pub(crate) struct Loop {
    pub block: usize,
    pub max: u32,
    pub until: Option<Expr>,
    pub state: Vec<Expr>,
    /// For each state what it becomes, if it changes.
    pub next: Vec<Option<Expr>>,
}

#[derive(Debug)]
pub(crate) struct Call {
    pub workflow: String,
    pub with: Expr,
}

#[derive(Debug)]
pub(crate) struct End {
    pub when: Option<Expr>,
    pub name: String,
    pub success: bool,
    pub output: Option<Expr>,
}

/// A value, as it stands in some block: so many blocks outwards, and its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Ref {
    pub up: usize,
    pub place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    Binding(usize),
    Step(usize),
}

#[derive(Debug)]
pub(crate) enum Expr {
    Constant(Datum),
    Path(Ref, Vec<String>),
    /// A compiled expression, and what it sees.
    Code(String, Vec<Ref>),
    Record(Vec<(String, Expr)>),
    List(Vec<Expr>),
}

impl Expr {
    /// What it reads.
    pub fn reads(&self, into: &mut Vec<Ref>) {
        match self {
            Self::Constant(_) => {}
            Self::Path(of, _) => into.push(*of),
            Self::Code(_, seen) => into.extend(seen),
            Self::Record(fields) => fields.iter().for_each(|(_, of)| of.reads(into)),
            Self::List(items) => items.iter().for_each(|of| of.reads(into)),
        }
    }

    pub fn evaluate(&self, code: &Code, value_of: &dyn Fn(Ref) -> Datum) -> Result<Datum, String> {
        Ok(match self {
            Self::Constant(value) => value.clone(),
            Self::Path(of, keys) => value_of(*of).at(keys),
            Self::Code(name, seen) => {
                let seen: Vec<Datum> = seen.iter().map(|of| value_of(*of)).collect();
                let nodes: Vec<_> = seen.iter().map(Datum::node).collect();
                code.value(name, &nodes, &NO_CLOCK).map_err(|e| e.to_string())?.into()
            }
            Self::Record(fields) => {
                let fields =
                    fields.iter().map(|(key, of)| Ok((key.clone(), of.evaluate(code, value_of)?.json().clone())));
                Value::Object(fields.collect::<Result<Map<_, _>, String>>()?).into()
            }
            Self::List(items) => {
                let items = items.iter().map(|of| Ok(of.evaluate(code, value_of)?.json().clone()));
                Value::Array(items.collect::<Result<_, String>>()?).into()
            }
        })
    }
}

/// Workflows have no clock: the same row gives the same values whenever it is played.
pub(crate) const NO_CLOCK: engine::tools::code::CallContext<'static> =
    engine::tools::code::CallContext { now: "", id_seed: "" };
