//! Beginning a step once all that it reads is there.

use std::sync::Arc;

use domain::workflow::BuiltInEnd;
use serde_json::{Map, Value};

use super::{Ending, Fold, Origin, Part, Slot, StepId, bytes_of};
use crate::datum::Datum;
use crate::plan::{Action, Expr, Map_, Place, Ref};

impl Fold {
    /// Begins a step, or has it wait for the first thing that is missing.
    pub(super) fn try_start(&mut self, id: StepId) {
        let workflow = Arc::clone(&self.scopes[id.scope].workflow);
        let step = &workflow.blocks[self.scopes[id.scope].block].steps[id.step];
        let barrier = step.barrier.map(|place| Ref { up: 0, place: Place::Step(place) });
        let mut first = Vec::from_iter(barrier);
        step.when.iter().for_each(|when| when.reads(&mut first));
        if self.waits_for_one_of(id, &first, None) {
            return;
        }
        match step.when.as_ref().map_or(Ok(true), |when| self.is_true(id.scope, when)) {
            Ok(true) => {}
            Ok(false) => return self.done(id, Value::Null.into()),
            Err(reason) => return self.fail(id, BuiltInEnd::FailedCode, reason),
        }
        let streamed = match &step.action {
            Action::Map(map) => self.streamed(id, map),
            _ => None,
        };
        if !self.waits_for_one_of(id, &step.reads, streamed) {
            self.start(id, &step.action, streamed);
        }
    }

    /// The step whose items a map can go through before all are there. Its state may need them whole.
    fn streamed(&self, id: StepId, map: &Map_) -> Option<StepId> {
        let Expr::Path(of, keys) = &map.over else { return None };
        let source = self.step_of(id.scope, *of).filter(|_| keys.is_empty())?;
        let mut of_state = Vec::new();
        map.state.iter().for_each(|initial| initial.reads(&mut of_state));
        if of_state.contains(of) {
            return None;
        }
        match self.slot(source) {
            Slot::Mapping(_) => Some(source),
            Slot::Asking(asking) if asking.streams() => Some(source),
            _ => None,
        }
    }

    /// Also for good: if one of them never has a value. `streamed`: needs not be whole.
    fn waits_for_one_of(&mut self, id: StepId, reads: &[Ref], streamed: Option<StepId>) -> bool {
        let sources = || {
            let sources = reads.iter().filter_map(|of| self.step_of(id.scope, *of));
            sources.filter(|source| Some(*source) != streamed)
        };
        let missing = sources().find(|source| !matches!(self.slot(*source), Slot::Done(_)));
        let Some(missing) = missing else { return false };
        if sources().any(|source| matches!(self.slot(source), Slot::Ended)) {
            self.give_up_step(id);
        } else {
            self.waiters.entry(missing).or_default().push(id);
        }
        true
    }

    fn start(&mut self, id: StepId, action: &Action, streamed: Option<StepId>) {
        match action {
            Action::Ask(ask) => self.start_ask(id, ask),
            Action::Search(search) => self.start_search(id, search),
            Action::Embed(embed) => self.start_embed(id, embed),
            Action::Rerank(rerank) => self.start_rerank(id, rerank),
            Action::Tool(call) => self.start_tool(id, call),
            Action::Converse(own) => self.start_conversation(id, own),
            Action::Code(expression) => match self.evaluate(id.scope, expression) {
                Ok(value) if self.charge_value(expression, &value) => self.done(id, value),
                Ok(_) => {}
                Err(reason) => self.fail(id, BuiltInEnd::FailedCode, reason),
            },
            Action::Join => self.done(id, Value::Null.into()),
            Action::Map(map) => self.start_map(id, map, streamed),
            Action::Loop(own) => {
                let state: Result<Vec<_>, String> = own.state.iter().map(|of| self.evaluate(id.scope, of)).collect();
                match state {
                    Ok(state) => {
                        if !own.state.iter().zip(&state).all(|(of, value)| self.charge_value(of, value)) {
                            return;
                        }
                        *self.slot_mut(id) = Slot::Inside;
                        self.open_inner(id, own.block, Part::Round(0), state);
                    }
                    Err(reason) => self.fail(id, BuiltInEnd::FailedCode, reason),
                }
            }
            Action::Call(call) => match self.evaluate(id.scope, &call.with) {
                Ok(with) => {
                    if !self.charge_value(&call.with, &with) {
                        return;
                    }
                    *self.slot_mut(id) = Slot::Inside;
                    let input = with.json().as_object().cloned().unwrap_or_default();
                    self.call(id, &call.workflow, &input, Part::Call);
                }
                Err(reason) => self.fail(id, BuiltInEnd::FailedCode, reason),
            },
            Action::End(end) => match end.when.as_ref().map_or(Ok(true), |when| self.is_true(id.scope, when)) {
                Ok(false) => self.done(id, Value::Null.into()),
                Ok(true) => {
                    let output = end.output.as_ref().map(|of| self.evaluate(id.scope, of)).transpose();
                    match output {
                        Ok(output) => self.end(id, Ending::named(end, output)),
                        Err(reason) => self.fail(id, BuiltInEnd::FailedCode, reason),
                    }
                }
                Err(reason) => self.fail(id, BuiltInEnd::FailedCode, reason),
            },
        }
    }

    /// Opens a workflow that is called, for a step or for a tool of one.
    pub(super) fn call(&mut self, id: StepId, name: &str, input: &Map<String, Value>, part: Part) {
        let around = &self.scopes[id.scope];
        let Some(called) = around.workflow.called.get(name).cloned() else {
            return self.fail(id, BuiltInEnd::FailedCode, format!("there is no workflow `{name}`"));
        };
        let input = match called.checked(input) {
            Ok(input) => input,
            Err(reason) => {
                return self.fail(id, BuiltInEnd::InvalidInput, format!("`{name}` cannot be called: {reason}"));
            }
        };
        let which = match part {
            Part::Tool(call) => call,
            _ => 0,
        };
        let address = around.address.child(id.step, &self.plan(id).name, which, 0);
        self.open_workflow(&called, &input, address, Some(Origin { step: id, part }));
    }

    /// A round of a loop has ended.
    pub(super) fn round_done(&mut self, id: StepId, round: u32, inner: usize) {
        let workflow = Arc::clone(&self.scopes[id.scope].workflow);
        let Action::Loop(own) = &workflow.blocks[self.scopes[id.scope].block].steps[id.step].action else { return };
        let state = match self.next_state(inner, &own.next, 0) {
            Ok(state) => state,
            Err(reason) => return self.fail(id, BuiltInEnd::FailedCode, reason),
        };
        if !self.charge_growth(inner, 0, &state) {
            return;
        }
        self.close_scope(inner);
        // `until` sees the state of the next round, and nothing of the steps of this one.
        let block = &workflow.blocks[own.block];
        let is_last = round + 1 >= own.max;
        let until = own.until.as_ref().map_or(Ok(false), |until| {
            let value_of = |of: Ref| match (of.up, of.place) {
                (0, Place::Binding(place)) => state[place].clone(),
                (up, _) => self.value_of(id.scope, Ref { up: up.saturating_sub(1), place: of.place }),
            };
            until.evaluate(&workflow.code, &value_of).map(|value| super::truth(value.json()))
        });
        match until {
            Ok(false) if !is_last => drop(self.open_inner(id, own.block, Part::Round(round + 1), state)),
            Ok(_) => {
                let fields = block.bindings.iter().cloned().zip(state.iter().map(|value| value.json().clone()));
                self.done(id, Value::Object(fields.collect()).into());
            }
            Err(reason) => self.fail(id, BuiltInEnd::FailedCode, reason),
        }
    }

    /// The state that follows a round, or an item; its first bindings are not part of it.
    pub(super) fn next_state(&self, inner: usize, next: &[Option<Expr>], first: usize) -> Result<Vec<Datum>, String> {
        let before = &self.scopes[inner].bindings[first..];
        let next = before.iter().zip(next).map(|(before, next)| match next {
            Some(next) => self.evaluate(inner, next),
            None => Ok(before.clone()),
        });
        next.collect()
    }

    /// Counts by how much a state has grown: the one before it is dropped.
    pub(super) fn charge_growth(&mut self, inner: usize, first: usize, state: &[Datum]) -> bool {
        let bytes = |value: &Datum| bytes_of(value.json());
        let before: usize = self.scopes[inner].bindings.iter().skip(first).map(bytes).sum();
        let after: usize = state.iter().map(bytes).sum();
        self.charge(after.saturating_sub(before))
    }

    /// Nobody asks for what is in it any more: its memory is freed.
    pub(super) fn close_scope(&mut self, id: usize) {
        let scope = &mut self.scopes[id];
        scope.is_over = true;
        scope.slots.iter_mut().for_each(|slot| *slot = Slot::Ended);
        scope.bindings.clear();
    }
}
