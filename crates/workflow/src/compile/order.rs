//! The order of the steps of one list: each after those that it reads.

use std::collections::BTreeSet;

use domain::workflow::{Step, Steps};
use serde_json::Value;

use super::control::ITEM;
use super::{Compiler, templates};
use crate::expression::{Scope, infer};

impl Compiler<'_> {
    /// The places of the steps in an order in which each one comes after what it reads. Steps that wait for each other are a
    /// problem, and left out.
    pub fn ordered(&mut self, steps: &Steps, pointer: &str) -> Vec<usize> {
        let reads: Vec<BTreeSet<usize>> = steps.iter().map(|(name, step)| self.read_steps(name, step, steps)).collect();
        let mut after: Vec<BTreeSet<usize>> = reads.clone();
        let mut end = None;
        for (place, step) in steps.values().enumerate() {
            after[place].extend(end);
            if step.end.is_some() {
                end = Some(place);
            }
        }
        let (mut done, mut order) = (vec![false; steps.len()], Vec::new());
        while let Some(next) = (0..steps.len()).find(|i| !done[*i] && after[*i].iter().all(|before| done[*before])) {
            done[next] = true;
            order.push(next);
        }
        if let Some(circle) = (0..steps.len()).find(|i| !done[*i]).map(|first| circle(&after, &done, first)) {
            let names: Vec<&str> = circle.iter().filter_map(|i| Some(steps.get_index(*i)?.0.as_str())).collect();
            let at = domain::patch::join(pointer, names.first().copied().unwrap_or_default());
            let ends = circle.iter().any(|i| steps[*i].end.is_some());
            let why = if ends { " (steps after an `end` wait for it)" } else { "" };
            self.problem(&at, format!("these steps wait for each other: {}{why}", names.join(" -> ")));
        }
        order
    }

    /// The steps of its own list that a step names somewhere, in what is within it, too. `own`: its name.
    fn read_steps(&self, own: &str, step: &Step, beside: &Steps) -> BTreeSet<usize> {
        let mut names = BTreeSet::new();
        self.names_of(step, &mut names);
        // Its own value is not there yet, so it can only mean the function.
        if self.functions.iter().any(|function| function == own) {
            names.remove(own);
        }
        names.iter().filter_map(|name| beside.get_index_of(name.as_str())).collect()
    }

    /// The names that a step takes from around it.
    fn names_of(&self, step: &Step, into: &mut BTreeSet<String>) {
        let mut value = |spec: &Value| names_of_value(spec, into);
        value(&step.code);
        step.state.values().for_each(&mut value);
        if let Some(call) = &step.call {
            call.with.values().for_each(&mut value);
        }
        let ended = step.end.as_ref().and_then(|own| own.when.as_ref());
        let query = step.search.as_ref().map(|own| &own.query);
        let texts = step.embed.as_ref().map(|own| &own.texts);
        for text in [step.when.as_ref(), step.map.as_ref(), ended, query, texts].into_iter().flatten() {
            names_of_text(text, into);
        }
        if let Some(converse) = &step.converse {
            [Some(&converse.scenario), converse.persona.as_ref()]
                .into_iter()
                .flatten()
                .for_each(|text| names_of_text(text, into));
        }
        if let Some(rerank) = &step.rerank {
            [&rerank.query, &rerank.documents].into_iter().for_each(|text| names_of_text(text, into));
        }
        if let Some(call) = &step.tool {
            call.arguments.values().chain([&call.body]).for_each(|spec| names_of_value(spec, into));
            call.otherwise.iter().for_each(|spec| names_of_value(spec, into));
        }
        let embeds = step.embed.as_ref().and_then(|own| own.otherwise.as_ref());
        let ranks = step.rerank.as_ref().and_then(|own| own.otherwise.as_ref());
        embeds.into_iter().chain(ranks).for_each(|spec| names_of_value(spec, into));
        if let Some(end) = &step.end {
            end.output.values().for_each(|spec| names_of_value(spec, into));
        }
        if let Some(ask) = &step.ask {
            if !ask.roles.is_empty() {
                names_of_text(&ask.role, into);
            }
            ask.messages.iter().for_each(|text| names_of_text(text, into));
            ask.otherwise.iter().for_each(|spec| names_of_value(spec, into));
            ask.system.iter().chain(&ask.prompt).for_each(|text| self.names_of_template(text, into));
        }
        into.extend(self.names_within(step));
    }

    /// The names that the items of a map or the rounds of a loop take from around it: not those of their own steps, of the item
    /// and of the state.
    fn names_within(&self, step: &Step) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        step.steps.values().for_each(|inner| self.names_of(inner, &mut names));
        step.next.values().chain([&step.yields]).for_each(|spec| names_of_value(spec, &mut names));
        let item = step.map.as_ref().map(|_| step.item.as_deref().unwrap_or(ITEM));
        names.retain(|name| !step.steps.contains_key(name.as_str()) && item != Some(name.as_str()));
        // It sees the state, and none of the steps.
        if let Some(until) = step.repeat.as_ref().and_then(|own| own.until.as_ref()) {
            names_of_text(until, &mut names);
        }
        names.retain(|name| !step.state.contains_key(name.as_str()));
        names
    }

    fn names_of_template(&self, text: &str, into: &mut BTreeSet<String>) {
        let used = match self.templates.get_template(text) {
            Ok(template) => template.undeclared_variables(false),
            Err(_) if templates::is_file(text) && !text.contains([' ', '\n', '{']) => return,
            Err(_) => {
                let mut alone = engine::templates::environment();
                if engine::templates::add(&mut alone, "text", text).is_err() {
                    return;
                }
                alone.get_template("text").map(|own| own.undeclared_variables(false)).unwrap_or_default()
            }
        };
        into.extend(used);
        let source = self.files.get(text).map_or(text, String::as_str);
        for file in templates::included(self.files, source) {
            let included = self.templates.get_template(file).map(|own| own.undeclared_variables(false));
            into.extend(included.into_iter().flatten());
        }
    }
}

fn names_of_value(spec: &Value, into: &mut BTreeSet<String>) {
    match spec {
        Value::String(text) => names_of_text(text, into),
        Value::Array(items) => items.iter().for_each(|item| names_of_value(item, into)),
        Value::Object(fields) => fields.values().for_each(|item| names_of_value(item, into)),
        _ => {}
    }
}

/// All names that are free in an expression. What is wrong with it is said later.
fn names_of_text(text: &str, into: &mut BTreeSet<String>) {
    into.extend(infer(text, &Scope::anything(), &[]).names);
}

/// A way round among those that are not done.
fn circle(after: &[BTreeSet<usize>], done: &[bool], first: usize) -> Vec<usize> {
    let mut way = vec![first];
    loop {
        let last = way[way.len() - 1];
        let Some(next) = after[last].iter().copied().find(|before| !done[*before]) else { return way };
        if let Some(start) = way.iter().position(|seen| *seen == next) {
            way.drain(..start);
            way.push(next);
            return way;
        }
        way.push(next);
    }
}
