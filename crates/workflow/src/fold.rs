//! The state of one row: a tree of scopes, one for each list of steps that is being done. Replies go in, in any order, and
//! what follows from them is done at once; what they mean depends on their address alone.

mod agent;
mod agent_state;
mod asking;
mod conversing;
mod encoding;
mod ending;
mod known;
mod mapping;
mod reply;
mod starting;
mod tool;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use domain::seed::Seed;
use domain::workflow::BuiltInEnd;
use serde_json::{Map, Value};

use crate::address::Address;
use crate::datum::Datum;
use crate::limits::{MOST_REQUESTS, MOST_ROW_BYTES, MOST_SCOPES};
use crate::plan::{Block, Expr, Place, Ref, Step, Workflow};
pub use asking::RequestKind;
use asking::{Asking, OpenRequest};
use conversing::Conversing;
pub use ending::Ending;
pub use known::KnownField;
use mapping::Mapping;

pub(crate) type ScopeId = usize;

/// A step of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct StepId {
    pub scope: ScopeId,
    pub step: usize,
}

/// A list of steps that is being done.
#[derive(Clone)]
struct Scope {
    workflow: Arc<Workflow>,
    block: usize,
    /// What it was opened for; `None` for the row itself.
    origin: Option<Origin>,
    /// Whether the names around it are visible in it: not in a workflow that is called.
    sees_around: bool,
    /// The outermost scope of its workflow, which its ends end.
    root: ScopeId,
    address: Address,
    bindings: Vec<Datum>,
    slots: Vec<Slot>,
    /// Steps that are not settled.
    left: usize,
    /// Nobody waits for what it comes to.
    is_over: bool,
    endings: BTreeMap<Address, Ending>,
}

/// The step that opened a scope.
#[derive(Debug, Clone, Copy)]
struct Origin {
    step: StepId,
    part: Part,
}

#[derive(Debug, Clone, Copy)]
enum Part {
    Item(usize),
    Round(u32),
    Call,
    /// A workflow or a registered tool that a model calls: which of its calls.
    Tool(usize),
}

/// How far a step is.
#[derive(Clone)]
enum Slot {
    /// It waits for others.
    Waiting,
    Asking(Box<Asking>),
    Mapping(Box<Mapping>),
    /// Shared with what is only thought of: most of it never changes there.
    Conversing(Arc<Conversing>),
    /// A loop in some round, or a call.
    Inside,
    /// An `end` that was reached, a step that failed, or one that waits for such a step: it never has a value.
    Ended,
    Done(Datum),
}

#[derive(Clone)]
pub struct Fold {
    seed: Seed,
    scopes: Vec<Scope>,
    /// Steps that may begin.
    ready: VecDeque<StepId>,
    /// Step -> those that wait for it.
    waiters: HashMap<StepId, Vec<StepId>>,
    /// Step -> the maps that go through its items as they come.
    subscribers: HashMap<StepId, Vec<StepId>>,
    open: BTreeMap<u64, OpenRequest>,
    requests: usize,
    bytes: usize,
    outcome: Option<Ending>,
}

impl Fold {
    /// `input` fits the workflow.
    pub fn begin(workflow: &Arc<Workflow>, input: &Map<String, Value>, seed: Seed) -> Self {
        let mut fold = Self {
            seed,
            scopes: Vec::new(),
            ready: VecDeque::new(),
            waiters: HashMap::new(),
            subscribers: HashMap::new(),
            open: BTreeMap::new(),
            requests: 0,
            bytes: 0,
            outcome: None,
        };
        fold.open_workflow(workflow, input, Address::default(), None);
        fold.settle();
        fold
    }

    /// A row that ended before it began.
    pub fn ended(seed: Seed, ending: Ending) -> Self {
        Self {
            seed,
            scopes: Vec::new(),
            ready: VecDeque::new(),
            waiters: HashMap::new(),
            subscribers: HashMap::new(),
            open: BTreeMap::new(),
            requests: 0,
            bytes: 0,
            outcome: Some(ending),
        }
    }

    /// How the row ended, if it has.
    pub const fn outcome(&self) -> Option<&Ending> {
        self.outcome.as_ref()
    }

    /// The requests that are open, by id.
    pub fn open_requests(&self) -> impl Iterator<Item = (u64, RequestKind<'_>)> {
        self.open.iter().map(|(id, open)| (*id, self.kind_of(open)))
    }

    pub fn is_open(&self, id: u64) -> bool {
        self.open.contains_key(&id)
    }

    /// Ends the row, whatever is in progress.
    pub fn give_up(&mut self, ending: Ending) {
        self.outcome.get_or_insert(ending);
        self.open.clear();
    }

    /// Does all that can be done without an answer.
    fn settle(&mut self) {
        loop {
            while let Some(step) = self.ready.pop_front() {
                if self.outcome.is_some() {
                    self.ready.clear();
                    return;
                }
                if !self.scopes[step.scope].is_over && matches!(self.slot(step), Slot::Waiting) {
                    self.try_start(step);
                }
            }
            if !self.end_innermost_stuck() {
                return;
            }
        }
    }

    fn open_workflow(
        &mut self,
        workflow: &Arc<Workflow>,
        input: &Map<String, Value>,
        address: Address,
        origin: Option<Origin>,
    ) -> Option<ScopeId> {
        let bindings = &workflow.blocks[0].bindings;
        let bindings = bindings.iter().map(|name| input.get(name).cloned().unwrap_or_default().into()).collect();
        let root = self.scopes.len();
        self.open_scope(Scope {
            workflow: Arc::clone(workflow),
            block: 0,
            origin,
            sees_around: false,
            root,
            address,
            bindings,
            slots: Vec::new(),
            left: 0,
            is_over: false,
            endings: BTreeMap::new(),
        })
    }

    /// Opens the list of a map or loop.
    fn open_inner(&mut self, step: StepId, block: usize, part: Part, bindings: Vec<Datum>) -> Option<ScopeId> {
        let around = &self.scopes[step.scope];
        let (iteration, index) = match part {
            Part::Item(index) => (0, index),
            Part::Round(round) => (round as usize, 0),
            Part::Call | Part::Tool(_) => (0, 0),
        };
        let scope = Scope {
            workflow: Arc::clone(&around.workflow),
            block,
            origin: Some(Origin { step, part }),
            sees_around: true,
            root: around.root,
            address: around.address.child(step.step, &self.plan(step).name, iteration, index),
            bindings,
            slots: Vec::new(),
            left: 0,
            is_over: false,
            endings: BTreeMap::new(),
        };
        self.open_scope(scope)
    }

    /// Opens the list whose one step calls a registered tool for a model.
    fn open_tool_call(&mut self, step: StepId, block: usize, call: usize, arguments: Datum) -> Option<ScopeId> {
        let around = &self.scopes[step.scope];
        let scope = Scope {
            workflow: Arc::clone(&around.workflow),
            block,
            origin: Some(Origin { step, part: Part::Tool(call) }),
            sees_around: true,
            // It ends by itself, as a workflow that is called does: then the model goes on.
            root: self.scopes.len(),
            address: around.address.child(step.step, &self.plan(step).name, call, 0),
            bindings: vec![arguments],
            slots: Vec::new(),
            left: 0,
            is_over: false,
            endings: BTreeMap::new(),
        };
        self.open_scope(scope)
    }

    /// `None` if there are too many: then the row ends.
    fn open_scope(&mut self, mut scope: Scope) -> Option<ScopeId> {
        let id = self.scopes.len();
        if id >= MOST_SCOPES {
            let reason = format!("the row has more than {MOST_SCOPES} items, rounds and calls");
            self.give_up(Ending::failed(BuiltInEnd::TooManyItems, reason));
            return None;
        }
        let steps = scope.workflow.blocks[scope.block].steps.len();
        (scope.slots, scope.left) = ((0..steps).map(|_| Slot::Waiting).collect(), steps);
        self.scopes.push(scope);
        self.ready.extend((0..steps).map(|step| StepId { scope: id, step }));
        Some(id)
    }

    fn slot(&self, id: StepId) -> &Slot {
        &self.scopes[id.scope].slots[id.step]
    }

    fn slot_mut(&mut self, id: StepId) -> &mut Slot {
        &mut self.scopes[id.scope].slots[id.step]
    }

    fn block(&self, scope: ScopeId) -> &Block {
        let scope = &self.scopes[scope];
        &scope.workflow.blocks[scope.block]
    }

    fn plan(&self, id: StepId) -> &Step {
        &self.block(id.scope).steps[id.step]
    }

    fn address(&self, id: StepId) -> Address {
        self.scopes[id.scope].address.child(id.step, &self.plan(id).name, 0, 0)
    }

    /// The step that a reference leads to; `None` if it leads to a binding.
    fn step_of(&self, scope: ScopeId, of: Ref) -> Option<StepId> {
        match of.place {
            Place::Binding(_) => None,
            Place::Step(step) => Some(StepId { scope: self.around(scope, of.up), step }),
        }
    }

    fn around(&self, scope: ScopeId, up: usize) -> ScopeId {
        (0..up).fold(scope, |inner, _| match &self.scopes[inner] {
            Scope { origin: Some(origin), sees_around: true, .. } => origin.step.scope,
            _ => inner,
        })
    }

    fn value_of(&self, scope: ScopeId, of: Ref) -> Datum {
        let around = &self.scopes[self.around(scope, of.up)];
        match of.place {
            Place::Binding(place) => around.bindings[place].clone(),
            Place::Step(place) => match &around.slots[place] {
                Slot::Done(value) => value.clone(),
                _ => Value::Null.into(),
            },
        }
    }

    /// # Errors
    /// The expression is broken.
    fn evaluate(&self, scope: ScopeId, expression: &Expr) -> Result<Datum, String> {
        expression.evaluate(&self.scopes[scope].workflow.code, &|of| self.value_of(scope, of))
    }

    fn is_true(&self, scope: ScopeId, expression: &Expr) -> Result<bool, String> {
        Ok(truth(self.evaluate(scope, expression)?.json()))
    }

    /// A step has its value.
    fn done(&mut self, id: StepId, value: Datum) {
        *self.slot_mut(id) = Slot::Done(value);
        self.ready.extend(self.waiters.remove(&id).into_iter().flatten());
        self.close_subscribed(id);
        let scope = &mut self.scopes[id.scope];
        // A map that goes through its items may have ended the workflow.
        if scope.is_over {
            return;
        }
        scope.left -= 1;
        if scope.left == 0 {
            self.finish_scope(id.scope);
        } else {
            self.end_root(self.scopes[id.scope].root);
        }
    }

    /// All steps of a scope are settled.
    fn finish_scope(&mut self, id: ScopeId) {
        match self.scopes[id].origin {
            Some(Origin { step, part: Part::Item(index) }) => self.item_done(step, index, id),
            Some(Origin { step, part: Part::Round(round) }) => self.round_done(step, round, id),
            _ => self.root_done(id),
        }
    }

    /// Counts a request. Whether the row may go on.
    fn charge_request(&mut self) -> bool {
        self.requests += 1;
        let is_within = self.requests <= MOST_REQUESTS;
        if !is_within {
            self.too_large(format!("the row makes more than {MOST_REQUESTS} requests"));
        }
        is_within
    }

    /// Counts what a row is given or computes. Whether it may go on.
    fn charge(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        let is_within = self.bytes <= MOST_ROW_BYTES;
        if !is_within {
            self.too_large(format!("the row holds more than {} MiB", MOST_ROW_BYTES >> 20));
        }
        is_within
    }

    /// Counts a value that an expression gave, unless it only names one that is counted. What is dropped later counts, too:
    /// whether a row is too large must not depend on the order of replies.
    fn charge_value(&mut self, expression: &Expr, value: &Datum) -> bool {
        let is_named = matches!(expression, Expr::Path(_, keys) if keys.is_empty());
        is_named || self.charge(bytes_of(value.json()))
    }

    fn too_large(&mut self, reason: String) {
        self.give_up(Ending::failed(BuiltInEnd::TooLarge, reason));
    }
}

/// Bytes of JSON, about.
fn bytes_of(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| bytes_of(item) + 1).sum::<usize>(),
        Value::Object(map) => 2 + map.iter().map(|(key, value)| key.len() + bytes_of(value) + 4).sum::<usize>(),
    }
}

/// As in Starlark.
pub(crate) fn truth(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(b) => *b,
        Value::Number(n) => n.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}
