//! Steps that hold other steps, use other workflows, or end the row.

use domain::workflow::{BuiltInEnd, Call, End, Loop, Search, Step};
use indexmap::IndexMap;
use serde_json::Value;

use super::Compiler;
use super::frames::Frame;
use crate::limits::USUAL_ITEMS;
use crate::plan::{self, Action, Expr, Place, Ref};
use crate::types::Type;

/// What `steps` call the item of a map if the document gives it no name.
pub const ITEM: &str = "item";

impl Compiler<'_> {
    pub fn search(&mut self, search: &Search, at: &str, guards: &[String]) -> (Action, Type) {
        let (query, of) = self.expression(&search.query, &format!("{at}/query"), guards);
        if !of.fits(&Type::Text) {
            self.problem(&format!("{at}/query"), format!("is a {of}; a text is expected"));
        }
        let fields = [("id", Type::Text), ("title", Type::Text), ("text", Type::Text), ("url", Type::Text)];
        let passage = fields.into_iter().chain([("score", Type::Number)]);
        let passage = Type::Record(passage.map(|(key, of)| (key.to_owned(), of)).collect());
        (Action::Search(plan::Search { index: search.index.clone(), query, k: search.k }), Type::list(passage))
    }

    pub fn map(&mut self, name: &str, step: &Step, over: &str, at: &str, guards: &[String]) -> (Action, Type) {
        let (over, of) = self.expression(over, &format!("{at}/map"), guards);
        let item = of.item().unwrap_or_else(|| {
            let hint = if matches!(of, Type::Optional(_) | Type::Null) {
                "; write `... or []` for one that may be None"
            } else {
                ""
            };
            self.problem(&format!("{at}/map"), format!("is a {of}; a list or a stream is expected{hint}"));
            Type::Any
        });
        let item_name = step.item.clone().unwrap_or_else(|| ITEM.to_owned());
        self.check_name(&item_name, &format!("{at}/as"));
        if step.state.contains_key(item_name.as_str()) {
            let message = format!("`{item_name}` stands in `state`, too; choose another name");
            self.problem(&format!("{at}/as"), message);
        }
        let (state, types) = self.state(&step.state, at, guards);
        let types = changing(types, step);
        let frame = Frame::new([(item_name, item)].into_iter().chain(types.clone()));
        let (block, next, yields, yielded) = self.within(name, frame, |here| {
            let (block, known) = here.block(&step.steps, &format!("{at}/steps"), guards);
            let (next, _) = here.next(step, &types, at, &known);
            let (yields, yielded) = here.yields(step, block, at, &known);
            (block, next, yields, yielded)
        });
        let is_stream = matches!(of, Type::Stream(_));
        let map = plan::Map_ {
            over,
            block,
            most: step.most.map_or(USUAL_ITEMS, |most| most as usize),
            yields,
            in_order: step.takes.is_some(),
            state,
            next,
        };
        (Action::Map(map), if is_stream { Type::stream(yielded) } else { Type::list(yielded) })
    }

    /// What an item becomes: what the document says, or all steps.
    fn yields(&mut self, step: &Step, block: usize, at: &str, known: &[String]) -> (Expr, Type) {
        if !step.yields.is_null() {
            return self.value(&step.yields, &format!("{at}/yields"), known);
        }
        let steps = &self.blocks[block].steps;
        let values = steps.iter().enumerate().filter(|(_, step)| !matches!(step.action, Action::End(_)));
        let fields: Vec<(String, Expr)> = values
            .map(|(i, step)| (step.name.clone(), Expr::Path(Ref { up: 0, place: Place::Step(i) }, Vec::new())))
            .collect();
        let known: IndexMap<String, Type> = self.frames.last().map(|own| own.values().collect()).unwrap_or_default();
        let types = fields.iter().map(|(name, _)| (name.clone(), known.get(name).cloned().unwrap_or(Type::Any)));
        let of = Type::Record(types.collect());
        (Expr::Record(fields), of)
    }

    pub fn repeat(&mut self, name: &str, step: &Step, repeat: &Loop, at: &str, guards: &[String]) -> (Action, Type) {
        let (state, types) = self.state(&step.state, at, guards);
        let types = changing(types, step);
        let (block, (next, after), until) = self.within(name, Frame::new(types.clone()), |here| {
            let (block, known) = here.block(&step.steps, &format!("{at}/steps"), guards);
            let next = here.next(step, &types, at, &known);
            // It sees the state only: its steps belong to the round before.
            let frame = here.frames.pop();
            here.frames.push(Frame::new(next.1.clone()));
            let until = repeat.until.as_ref().map(|text| here.expression(text, &format!("{at}/loop/until"), guards).0);
            here.frames.pop();
            here.frames.extend(frame);
            (block, next, until)
        });
        if step.state.is_empty() {
            self.problem(at, "a loop without `state` does the same in each round and gives nothing");
        }
        (Action::Loop(plan::Loop { block, max: repeat.max, until, state, next }), Type::Record(after))
    }

    /// For each state what it becomes, and the types that the states have after a round or an item.
    fn next(
        &mut self,
        step: &Step,
        types: &IndexMap<String, Type>,
        at: &str,
        known: &[String],
    ) -> (Vec<Option<Expr>>, IndexMap<String, Type>) {
        for key in step.next.keys().filter(|key| !types.contains_key(key.as_str())) {
            let at = domain::patch::join(&format!("{at}/next"), key);
            self.problem(&at, format!("there is no `{key}` in `state`"));
        }
        let mut after = types.clone();
        let next = after.iter_mut().map(|(key, of)| {
            let spec: &Value = step.next.get(key)?;
            let at = domain::patch::join(&format!("{at}/next"), key);
            let (value, becomes) = self.value(spec, &at, known);
            if !becomes.fits(&widened(of)) {
                self.problem(&at, format!("is a {becomes}, but `{key}` begins as a {of}"));
            }
            *of = if *of == any_or_none() { becomes.whole() } else { of.unite(&becomes).whole() };
            Some(value)
        });
        (next.collect(), after)
    }

    pub fn call(&mut self, call: &Call, at: &str, guards: &[String]) -> Option<(Action, Type)> {
        let (with, given) = self.record(&call.with, &format!("{at}/with"), guards);
        let called = self.find_workflow(&call.workflow, &format!("{at}/workflow"))?;
        if let (Type::Record(given), Type::Record(wanted)) = (&given, &called.input) {
            for (key, of) in wanted {
                match given.get(key) {
                    Some(own) if own.fits(of) => {}
                    Some(own) => {
                        let at = domain::patch::join(&format!("{at}/with"), key);
                        self.problem(&at, format!("is a {own}; `{}` takes a {of}", call.workflow));
                    }
                    None if matches!(of, Type::Optional(_) | Type::Any) => {}
                    None => {
                        self.problem(&format!("{at}/with"), format!("does not give `{key}: {of}`"));
                    }
                }
            }
            for key in given.keys().filter(|key| !wanted.contains_key(key.as_str())) {
                let at = domain::patch::join(&format!("{at}/with"), key);
                self.problem(&at, format!("`{}` has no input `{key}`", call.workflow));
            }
        }
        let of = called.ended_types.iter().fold(called.output_type.clone(), |of, ended| of.unite(ended));
        let of = if called.may_end { of.or_none() } else { of };
        Some((Action::Call(plan::Call { workflow: call.workflow.clone(), with }), of))
    }

    pub fn end(&mut self, end: &End, at: &str, guards: &[String]) -> (Action, Type) {
        let (when, mut known) = match &end.when {
            Some(text) => {
                let (when, guards) = self.condition(text, &format!("{at}/when"), guards);
                (Some(when), guards)
            }
            None => (None, Vec::new()),
        };
        known.extend_from_slice(guards);
        if !end.output.is_empty() && !end.success {
            self.problem(&format!("{at}/output"), "is kept only of a row that is accepted; add `success: true`");
        }
        if end.output.is_empty() && end.success {
            self.problem(at, "accepts the row but gives it no `output`; add one, or leave out `success`");
        }
        if end.name.parse::<BuiltInEnd>().is_ok() {
            let message = format!("`{}` is how rows end without an `end`; choose another name", end.name);
            self.problem(&format!("{at}/as"), message);
        }
        let output = (!end.output.is_empty()).then(|| self.record(&end.output, &format!("{at}/output"), &known));
        let output = output.map(|(output, of)| {
            self.ended_types.extend(end.success.then_some(of));
            output
        });
        self.may_end |= output.is_none() || !end.success;
        (Action::End(plan::End { when, name: end.name.clone(), success: end.success, output }), Type::Null)
    }
}

/// The types of a state as the steps of a map or loop see it: what begins as `None` and changes may be anything later.
fn changing(mut types: IndexMap<String, Type>, step: &Step) -> IndexMap<String, Type> {
    for (_, of) in types.iter_mut().filter(|(key, of)| **of == Type::Null && step.next.contains_key(*key)) {
        *of = any_or_none();
    }
    types
}

fn any_or_none() -> Type {
    Type::Optional(Box::new(Type::Any))
}

/// The type of a value that is replaced round by round: an empty list fills, a missing value comes, also within others.
fn widened(of: &Type) -> Type {
    match of {
        Type::Null => Type::Any,
        Type::List(item) | Type::Stream(item) => Type::list(widened(item)),
        Type::Record(fields) => Type::Record(fields.iter().map(|(key, of)| (key.clone(), widened(of))).collect()),
        known => known.clone(),
    }
}
