//! Lists of steps.

use domain::problem::listed;
use domain::workflow::{Step, Steps};
use indexmap::IndexMap;
use serde_json::Value;

use super::Compiler;
use super::frames::Frame;
use crate::limits::{MOST_LEVELS, MOST_STEPS};
use crate::plan::{Action, Block, Expr, Place, Ref, Step as PlannedStep};
use crate::types::Type;

impl Compiler<'_> {
    /// Compiles the list of the innermost frame. Its number among the blocks, and what is known behind it: what is known around
    /// it, which is `guards`, and what its `end`s leave known.
    pub fn block(&mut self, steps: &Steps, pointer: &str, guards: &[String]) -> (usize, Vec<String>) {
        let number = self.blocks.len();
        self.blocks.push(Block { bindings: Vec::new(), steps: Vec::new() });
        self.steps += steps.len();
        if self.steps > MOST_STEPS || self.frames.len() > MOST_LEVELS {
            let message = if self.steps > MOST_STEPS {
                format!("is one step too many: at most {MOST_STEPS}")
            } else {
                format!("is a map or loop within {MOST_LEVELS} others")
            };
            self.problem(pointer, message);
            return (number, guards.to_vec());
        }
        if steps.is_empty() {
            self.problem(pointer, "has no steps");
        }
        // What an `end` that did not end the row leaves known, for the steps behind it.
        let mut known: Vec<(usize, Vec<String>)> = Vec::new();
        let mut planned: Vec<Option<PlannedStep>> = steps.iter().map(|_| None).collect();
        for place in self.ordered(steps, pointer) {
            let Some((name, step)) = steps.get_index(place) else { continue };
            let at = domain::patch::join(pointer, name);
            self.check_name(name, &at);
            let barrier = (0..place).rev().find(|before| steps[*before].end.is_some());
            let before = known.iter().filter(|(end, _)| *end < place).flat_map(|(_, guards)| guards);
            let known_here: Vec<String> = guards.iter().chain(before).cloned().collect();
            // If an `end` has two conditions, it is not clear which one does not hold.
            let condition = step.end.as_ref().and_then(|end| match (&step.when, &end.when) {
                (Some(when), None) | (None, Some(when)) => Some(when),
                _ => None,
            });
            known.extend(condition.map(|when| (place, self.if_not(when))));
            let Some((step, of)) = self.step(name, step, &at, barrier, known_here) else { continue };
            if let Some(frame) = self.frames.last_mut() {
                frame.add_step(name, place, of);
            }
            planned[place] = Some(step);
        }
        let bindings = self.frames.last().map(Frame::bindings).unwrap_or_default();
        self.blocks[number] = Block { bindings, steps: planned.into_iter().flatten().collect() };
        (number, guards.iter().cloned().chain(known.into_iter().flat_map(|(_, guards)| guards)).collect())
    }

    fn step(
        &mut self,
        name: &str,
        step: &Step,
        at: &str,
        barrier: Option<usize>,
        mut guards: Vec<String>,
    ) -> Option<(PlannedStep, Type)> {
        self.check_shape(step, at)?;
        let when = step.when.as_ref().map(|text| {
            let (when, known) = self.condition(text, &format!("{at}/when"), &guards);
            guards.extend(known);
            when
        });
        let (action, of) = self.action(name, step, at, &guards)?;
        let of = if when.is_some() { of.or_none() } else { of };
        self.join(&action);
        let reads = reads(&action);
        Some((PlannedStep { name: name.to_owned(), when, barrier, action, reads }, of))
    }

    /// Has the items of a map or the rounds of a loop wait for the steps around it that they read when they are complete.
    fn join(&mut self, action: &Action) {
        let mut reads = action.reads_when_complete();
        reads.retain(|of| matches!(of.place, Place::Step(_)));
        if let Some(block) = action.block().filter(|_| !reads.is_empty()) {
            self.blocks[block].steps.push(PlannedStep::join(reads));
        }
    }

    /// Exactly one kind, and only the fields that belong to it.
    fn check_shape(&mut self, step: &Step, at: &str) -> Option<()> {
        let kinds = [
            ("ask", step.ask.is_some()),
            ("code", !step.code.is_null()),
            ("search", step.search.is_some()),
            ("embed", step.embed.is_some()),
            ("rerank", step.rerank.is_some()),
            ("tool", step.tool.is_some()),
            ("converse", step.converse.is_some()),
            ("map", step.map.is_some()),
            ("loop", step.repeat.is_some()),
            ("call", step.call.is_some()),
            ("end", step.end.is_some()),
        ];
        let given: Vec<&str> = kinds.iter().filter(|(_, given)| *given).map(|(kind, _)| *kind).collect();
        let [kind] = given[..] else {
            let found = if given.is_empty() { "none".to_owned() } else { given.join(", ") };
            let kinds = listed(kinds.iter().map(|(kind, _)| *kind));
            self.problem(at, format!("is exactly one of {kinds}; found {found}"));
            return None;
        };
        let in_order = step.takes.is_some();
        let has_state = kind == "loop" || in_order;
        let misplaced = [
            ("as", step.item.is_some() && kind != "map"),
            ("takes", in_order && kind != "map"),
            ("most", step.most.is_some() && kind != "map"),
            ("steps", !step.steps.is_empty() && !matches!(kind, "map" | "loop")),
            ("yields", !step.yields.is_null() && kind != "map"),
            ("state", !step.state.is_empty() && !has_state),
            ("next", !step.next.is_empty() && !has_state),
        ];
        for (field, _) in misplaced.iter().filter(|(_, misplaced)| *misplaced) {
            let belongs = match *field {
                "state" | "next" => "a `loop`, or to a `map` with `takes: stream`",
                "steps" => "a `map` or a `loop`",
                _ => "a `map`",
            };
            self.problem(&format!("{at}/{field}"), format!("belongs to {belongs}, and this is a `{kind}`"));
        }
        Some(())
    }

    fn action(&mut self, name: &str, step: &Step, at: &str, guards: &[String]) -> Option<(Action, Type)> {
        if let Some(ask) = &step.ask {
            let (ask, of) = self.ask(ask, &format!("{at}/ask"), guards)?;
            return Some((Action::Ask(Box::new(ask)), of));
        }
        if let Some(search) = &step.search {
            return Some(self.search(search, &format!("{at}/search"), guards));
        }
        if let Some(embed) = &step.embed {
            return Some(self.embed(embed, &format!("{at}/embed"), guards));
        }
        if let Some(rerank) = &step.rerank {
            return Some(self.rerank(rerank, &format!("{at}/rerank"), guards));
        }
        if let Some(call) = &step.tool {
            return self.tool_call(call, &format!("{at}/tool"), guards);
        }
        if let Some(converse) = &step.converse {
            return self.converse(converse, &format!("{at}/converse"), guards);
        }
        if let Some(over) = &step.map {
            return Some(self.map(name, step, over, at, guards));
        }
        if let Some(repeat) = &step.repeat {
            return Some(self.repeat(name, step, repeat, at, guards));
        }
        if let Some(call) = &step.call {
            return self.call(call, &format!("{at}/call"), guards);
        }
        if let Some(end) = &step.end {
            return Some(self.end(end, &format!("{at}/end"), guards));
        }
        let (value, of) = self.value(&step.code, &format!("{at}/code"), guards);
        Some((Action::Code(value), of.whole()))
    }

    /// Opens a frame for the steps of a map or loop; what is in it is not visible afterwards.
    pub fn within<T>(&mut self, name: &str, frame: Frame, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.frames.push(frame);
        let found = inside(self);
        if let (Some(frame), Some(around)) = (self.frames.pop(), self.frames.last_mut()) {
            let why = format!("it stands within `{name}`; use what `{name}` gives");
            around.elsewhere.extend(frame.values().map(|(inner, _)| (inner, why.clone())));
            around.elsewhere.extend(frame.elsewhere);
        }
        found
    }

    /// The state of a loop: its initial values, and a frame of its types.
    pub fn state(
        &mut self,
        state: &serde_json::Map<String, Value>,
        at: &str,
        guards: &[String],
    ) -> (Vec<Expr>, IndexMap<String, Type>) {
        let (mut initial, mut types) = (Vec::new(), IndexMap::new());
        for (key, spec) in state {
            let at = domain::patch::join(&format!("{at}/state"), key);
            self.check_name(key, &at);
            let (value, of) = self.value(spec, &at, guards);
            initial.push(value);
            types.insert(key.clone(), of.whole());
        }
        (initial, types)
    }
}

/// What an action reads before it can begin.
fn reads(action: &Action) -> Vec<Ref> {
    let mut found = Vec::new();
    match action {
        Action::Ask(ask) => ask.reads(&mut found),
        Action::Code(value) => value.reads(&mut found),
        Action::Search(search) => search.query.reads(&mut found),
        Action::Embed(embed) => embed.texts.reads(&mut found),
        Action::Rerank(rerank) => {
            rerank.query.reads(&mut found);
            rerank.documents.reads(&mut found);
        }
        Action::Tool(call) => call.message.reads(&mut found),
        Action::Converse(own) => {
            own.scenario.reads(&mut found);
            own.persona.iter().for_each(|of| of.reads(&mut found));
        }
        Action::Map(map) => {
            map.over.reads(&mut found);
            map.state.iter().for_each(|of| of.reads(&mut found));
        }
        Action::Loop(own) => own.state.iter().for_each(|of| of.reads(&mut found)),
        Action::Call(call) => call.with.reads(&mut found),
        Action::Join => {}
        Action::End(end) => {
            end.when.iter().for_each(|of| of.reads(&mut found));
            end.output.iter().for_each(|of| of.reads(&mut found));
        }
    }
    otherwise(action).into_iter().for_each(|of| of.reads(&mut found));
    found.dedup();
    found
}

/// What a step gives in place of an answer.
fn otherwise(action: &Action) -> Option<&Expr> {
    match action {
        Action::Embed(embed) => embed.otherwise.as_ref(),
        Action::Rerank(rerank) => rerank.otherwise.as_ref(),
        Action::Tool(call) => call.otherwise.as_ref(),
        _ => None,
    }
}
