//! How rows end. Of several things that would end a row, the one counts that comes first in the document, whenever it
//! happens: the same replies give the same row, in whatever order they come.

use domain::workflow::BuiltInEnd;
use serde_json::{Map, Value};

use super::{Fold, Origin, Part, ScopeId, Slot, StepId};
use crate::address::Address;
use crate::datum::Datum;
use crate::plan::{self, Expr, Place, Ref};

/// How a row ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ending {
    /// `finished`, the name of an `end`, or what went wrong.
    pub name: String,
    pub success: bool,
    /// What went wrong, for the people who read it; empty at an `end`.
    pub reason: String,
    /// Something went wrong that is no `end` of the document.
    pub is_failure: bool,
    /// No model answered: playing the row again may help.
    pub is_lost: bool,
    pub output: Option<Datum>,
}

impl Ending {
    pub fn failed(end: BuiltInEnd, reason: String) -> Self {
        Self { name: end.to_string(), success: false, reason, is_failure: true, is_lost: false, output: None }
    }

    pub(super) fn lost(reason: String) -> Self {
        Self { is_lost: true, ..Self::failed(BuiltInEnd::NoAnswer, reason) }
    }

    pub(super) fn named(end: &plan::End, output: Option<Datum>) -> Self {
        Self {
            name: end.name.clone(),
            success: end.success,
            reason: String::new(),
            is_failure: false,
            is_lost: false,
            output: output.filter(|_| end.success),
        }
    }
}

impl Fold {
    /// A step failed.
    pub(super) fn fail(&mut self, id: StepId, end: BuiltInEnd, reason: String) {
        let reason = format!("{}: {reason}", self.address(id));
        self.end(id, Ending::failed(end, reason));
    }

    /// A step ends its workflow, unless something before it does.
    pub(super) fn end(&mut self, id: StepId, ending: Ending) {
        self.leave_without_value(id);
        self.end_at(self.scopes[id.scope].root, self.address(id), ending);
    }

    /// What an item or a round comes to cannot be computed. That stands behind all of its steps.
    pub(super) fn fail_behind(&mut self, inner: ScopeId, id: StepId, reason: &str) {
        let ending = Ending::failed(BuiltInEnd::FailedCode, format!("{}: {reason}", self.address(id)));
        self.end_at(self.scopes[inner].root, self.address_behind(inner), ending);
    }

    /// Something at an address ends a workflow, unless something before it does.
    pub(super) fn end_at(&mut self, root: ScopeId, address: Address, ending: Ending) {
        self.scopes[root].endings.insert(address, ending);
        self.end_root(root);
    }

    /// A step waits for one that never has a value, so it has none, either.
    pub(super) fn give_up_step(&mut self, id: StepId) {
        self.leave_without_value(id);
        self.end_root(self.scopes[id.scope].root);
    }

    fn leave_without_value(&mut self, id: StepId) {
        *self.slot_mut(id) = Slot::Ended;
        self.ready.extend(self.waiters.remove(&id).into_iter().flatten());
    }

    /// Ends a workflow if nothing before its first ending is unsettled.
    pub(super) fn end_root(&mut self, root: ScopeId) {
        if self.scopes[root].is_over {
            return;
        }
        let Some((first, ending)) = self.scopes[root].endings.first_key_value() else { return };
        if self.is_unsettled_before(root, first) {
            return;
        }
        let ending = ending.clone();
        self.close_workflow(root, ending);
    }

    /// When nothing can happen any more, the first ending counts, also if steps before it wait: they wait for steps behind it
    /// that have no value. Whether there was such a workflow.
    pub(super) fn end_innermost_stuck(&mut self) -> bool {
        if self.outcome.is_some() || !self.open.is_empty() {
            return false;
        }
        // A workflow that is called has been opened later than the one that calls it.
        let Some(root) = self.scopes.iter().rposition(|scope| !scope.is_over && !scope.endings.is_empty()) else {
            return false;
        };
        let Some(ending) = self.scopes[root].endings.values().next().cloned() else { return false };
        self.close_workflow(root, ending);
        true
    }

    fn is_unsettled_before(&self, root: ScopeId, ending: &Address) -> bool {
        let inside = self.scopes.iter().enumerate().filter(|(_, scope)| scope.root == root && !scope.is_over);
        inside.into_iter().any(|(id, scope)| {
            let mut steps = scope.slots.iter().enumerate();
            let unsettled = steps.any(|(step, slot)| match slot {
                // What has an ending itself waits for the first one.
                Slot::Done(_) | Slot::Ended => false,
                slot => {
                    let own = self.address(StepId { scope: id, step });
                    // What holds the ending is unsettled because of it. But a map may still get more items than it takes.
                    let may_fail = matches!(slot, Slot::Mapping(mapping) if !mapping.is_closed());
                    own < *ending && (may_fail || !scope_holds(&own, ending))
                }
            });
            // All its steps have values, and what they come to is about to be computed.
            let is_complete = || id != root && scope.slots.iter().all(|slot| matches!(slot, Slot::Done(_)));
            unsettled || (is_complete() && self.address_behind(id) < *ending)
        })
    }

    /// The address behind all steps of a scope.
    fn address_behind(&self, scope: ScopeId) -> Address {
        self.scopes[scope].address.child(self.block(scope).steps.len(), "", 0, 0)
    }

    /// All steps of a workflow, or of a call of a registered tool, are settled.
    pub(super) fn root_done(&mut self, root: ScopeId) {
        let workflow = std::sync::Arc::clone(&self.scopes[root].workflow);
        // A call of a registered tool is a list of one step, and gives what that gives.
        let of_tool = Expr::Path(Ref { up: 0, place: Place::Step(0) }, Vec::new());
        let output = if self.scopes[root].block == 0 { &workflow.output } else { &of_tool };
        let ending = match self.evaluate(root, output) {
            // The row's own output is the last thing that it holds.
            Ok(value) if self.scopes[root].origin.is_some() && !self.charge_value(output, &value) => return,
            Ok(output) => Ending {
                name: BuiltInEnd::Finished.to_string(),
                success: true,
                reason: String::new(),
                is_failure: false,
                is_lost: false,
                output: Some(output),
            },
            Err(reason) => Ending::failed(BuiltInEnd::FailedCode, format!("output: {reason}")),
        };
        self.close_workflow(root, ending);
    }

    fn close_workflow(&mut self, root: ScopeId, ending: Ending) {
        // If all its steps are done, what is within it was closed before.
        let end = if self.scopes[root].left == 0 { root + 1 } else { self.scopes.len() };
        let inside: Vec<ScopeId> = (root..end).filter(|id| self.is_within(*id, root)).collect();
        self.open.retain(|_, open| !inside.contains(&open.step.scope));
        inside.into_iter().for_each(|id| self.close_scope(id));
        match self.scopes[root].origin {
            None => {
                self.outcome.get_or_insert(ending);
            }
            Some(Origin { step, part: Part::Tool(call) }) => self.tool_done(step, call, ending),
            Some(Origin { step, .. }) if ending.is_failure => self.end(step, ending),
            Some(Origin { step, .. }) => self.done(step, ending.output.unwrap_or_else(|| Value::Null.into())),
        }
    }

    fn is_within(&self, id: ScopeId, root: ScopeId) -> bool {
        let mut inner = Some(id);
        while let Some(scope) = inner {
            if scope == root {
                return true;
            }
            inner = self.scopes[scope].origin.map(|origin| origin.step.scope);
        }
        false
    }

    /// The output of a row that was accepted.
    pub fn output(&self) -> Option<&Map<String, Value>> {
        self.outcome.as_ref()?.output.as_ref()?.json().as_object()
    }
}

/// Whether a step holds what happens at an address: a map, a loop or a call around it.
fn scope_holds(step: &Address, inner: &Address) -> bool {
    let Some((last, around)) = step.0.split_last() else { return true };
    inner.0.len() > step.0.len()
        && inner.0.starts_with(around)
        && inner.0.get(around.len()).is_some_and(|level| level.place == last.place && level.step == last.step)
}
