//! Maps: a scope for each item, joined in order. The items may come from another map, or from a reply, before all are there.

use std::sync::Arc;

use domain::workflow::BuiltInEnd;
use serde_json::Value;

use super::{Ending, Fold, Part, ScopeId, Slot, StepId};
use crate::datum::Datum;
use crate::plan::{Action, Map_};

/// A map whose items are being done.
#[derive(Clone, Default)]
pub(super) struct Mapping {
    /// What each item became.
    yielded: Vec<Option<Datum>>,
    /// Items whose value is known, as those before them.
    joined: usize,
    done: usize,
    /// No more items come.
    is_closed: bool,
    /// More items came than it takes, which ends the workflow. Those that it has go on: they may be before what ends it.
    is_overfull: bool,
    /// Items of a map in order that wait for their turn, and the state for the next one.
    queue: Vec<Datum>,
    state: Vec<Datum>,
    is_busy: bool,
}

impl Mapping {
    /// The values that are known from the first one on.
    pub(super) fn prefix(&self) -> impl Iterator<Item = Datum> + '_ {
        self.yielded[..self.joined].iter().flatten().cloned()
    }

    pub(super) const fn is_closed(&self) -> bool {
        self.is_closed
    }
}

impl Fold {
    pub(super) fn start_map(&mut self, id: StepId, map: &Map_, streamed: Option<StepId>) {
        let state: Result<Vec<Datum>, String> = map.state.iter().map(|of| self.evaluate(id.scope, of)).collect();
        let state = match state {
            Ok(state) => state,
            Err(reason) => return self.fail(id, BuiltInEnd::FailedCode, reason),
        };
        let items = match streamed {
            Some(source) => {
                self.subscribers.entry(source).or_default().push(id);
                self.items_so_far(source)
            }
            None => match self.evaluate(id.scope, &map.over) {
                Ok(over) => match over.json() {
                    Value::Array(items) => items.iter().cloned().map(Datum::from).collect(),
                    Value::Null => Vec::new(),
                    _ => {
                        let reason = "`map` goes through a list, and this is none".to_owned();
                        return self.fail(id, BuiltInEnd::FailedCode, reason);
                    }
                },
                Err(reason) => return self.fail(id, BuiltInEnd::FailedCode, reason),
            },
        };
        *self.slot_mut(id) = Slot::Mapping(Box::new(Mapping { state, ..Mapping::default() }));
        self.wake_streamed(id);
        self.feed(id, items);
        if streamed.is_none() {
            self.close_map(id);
        }
    }

    /// Maps that go through the items of a step can begin: it gives them from now on.
    pub(super) fn wake_streamed(&mut self, source: StepId) {
        self.ready.extend(self.waiters.remove(&source).into_iter().flatten());
    }

    /// The items of a step that can be used already.
    pub(super) fn items_so_far(&self, source: StepId) -> Vec<Datum> {
        match self.slot(source) {
            Slot::Mapping(mapping) => mapping.prefix().collect(),
            Slot::Asking(asking) => asking.items_so_far().to_vec(),
            Slot::Done(value) => match value.json() {
                Value::Array(items) => items.iter().cloned().map(Datum::from).collect(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// More items of a source: those behind the ones that the map has.
    pub(super) fn feed_subscribed(&mut self, source: StepId) {
        let Some(maps) = self.subscribers.get(&source).cloned() else { return };
        let items = self.items_so_far(source);
        for map in maps {
            let Slot::Mapping(mapping) = self.slot(map) else { continue };
            let known = mapping.yielded.len();
            self.feed(map, items.iter().skip(known).cloned().collect());
        }
    }

    /// A source has all its items.
    pub(super) fn close_subscribed(&mut self, source: StepId) {
        if !self.subscribers.contains_key(&source) {
            return;
        }
        self.feed_subscribed(source);
        for map in self.subscribers.remove(&source).into_iter().flatten() {
            self.close_map(map);
        }
    }

    fn feed(&mut self, id: StepId, items: Vec<Datum>) {
        let workflow = Arc::clone(&self.scopes[id.scope].workflow);
        let Action::Map(map) = &workflow.blocks[self.scopes[id.scope].block].steps[id.step].action else { return };
        for item in items {
            let Slot::Mapping(mapping) = self.slot_mut(id) else { return };
            if mapping.is_overfull {
                return;
            }
            let index = mapping.yielded.len();
            if index >= map.most {
                mapping.is_overfull = true;
                self.refuse_more_items(id, map.most);
                break;
            }
            mapping.yielded.push(None);
            if map.in_order {
                mapping.queue.push(item);
            } else if self.open_inner(id, map.block, Part::Item(index), vec![item]).is_none() {
                return;
            }
        }
        if map.in_order {
            self.take_turn(id, map);
        }
    }

    fn refuse_more_items(&mut self, id: StepId, most: usize) {
        let reason = format!("there are more than {most} items; `most` of the step says how many there may be");
        let ending = Ending::failed(BuiltInEnd::TooManyItems, format!("{}: {reason}", self.address(id)));
        self.end_at(self.scopes[id.scope].root, self.address(id), ending);
    }

    /// The next item of a map in order, if none is being done.
    fn take_turn(&mut self, id: StepId, map: &Map_) {
        let Slot::Mapping(mapping) = self.slot_mut(id) else { return };
        if mapping.is_busy || mapping.done >= mapping.queue.len() {
            return;
        }
        mapping.is_busy = true;
        let (index, item) = (mapping.done, mapping.queue[mapping.done].clone());
        let bindings = std::iter::once(item).chain(mapping.state.iter().cloned()).collect();
        self.open_inner(id, map.block, Part::Item(index), bindings);
    }

    /// An item's steps are settled.
    pub(super) fn item_done(&mut self, id: StepId, index: usize, inner: ScopeId) {
        let workflow = Arc::clone(&self.scopes[id.scope].workflow);
        let Action::Map(map) = &workflow.blocks[self.scopes[id.scope].block].steps[id.step].action else { return };
        let becomes = self.evaluate(inner, &map.yields).and_then(|value| {
            let state = if map.in_order { self.next_state(inner, &map.next, 1)? } else { Vec::new() };
            Ok((value, state))
        });
        if let Ok((value, state)) = &becomes
            && !(self.charge_value(&map.yields, value) && self.charge_growth(inner, 1, state))
        {
            return;
        }
        self.close_scope(inner);
        let (value, state) = match becomes {
            Ok(becomes) => becomes,
            Err(reason) => return self.fail_behind(inner, id, &reason),
        };
        let Slot::Mapping(mapping) = self.slot_mut(id) else { return };
        mapping.yielded[index] = Some(value);
        mapping.done += 1;
        (mapping.state, mapping.is_busy) = (state, false);
        let before = mapping.joined;
        while mapping.yielded.get(mapping.joined).is_some_and(Option::is_some) {
            mapping.joined += 1;
        }
        if mapping.joined > before {
            self.feed_subscribed(id);
        }
        if map.in_order {
            self.take_turn(id, map);
        }
        self.join(id);
        self.end_root(self.scopes[id.scope].root);
    }

    fn close_map(&mut self, id: StepId) {
        if let Slot::Mapping(mapping) = self.slot_mut(id)
            && !mapping.is_overfull
        {
            mapping.is_closed = true;
        }
        self.join(id);
    }

    /// The list of what the items became, if all are done.
    fn join(&mut self, id: StepId) {
        let Slot::Mapping(mapping) = self.slot(id) else { return };
        if !mapping.is_closed || mapping.done < mapping.yielded.len() {
            return;
        }
        let values: Vec<Value> = mapping.prefix().map(|value| value.json().clone()).collect();
        self.done(id, Value::Array(values).into());
    }
}
