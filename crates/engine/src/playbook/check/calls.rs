//! Sample calls of the tools that are functions: what breaks or changes the world where it may not would do so in
//! conversations, too.
//!
//! Many tools refuse a call until another was made: the customer has to be verified. So the calls of scripts are made as
//! well, and tools that refused every sample call get further ones after them.

use std::collections::{BTreeMap, BTreeSet};

use domain::playbook::Simulate;
use domain::scenario::{ScriptCall, ScriptStep};
use serde_json::Value;

use super::{Finding, Place, Severity, Start, samples};
use crate::playbook::{Playbook, Refusal, Tool};
use crate::tools::code::{CallContext, CodeError};
use crate::world::World;

/// Worlds that are tried.
const WORLDS: usize = 4;
/// Scripts that are played.
const SCRIPTS: usize = 32;

/// Who reports what breaks in the scripts of scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scripts {
    ToBeTried,
    ProvedElsewhere,
}

/// `callable`: the tools whose functions take what they are called with.
pub fn check(playbook: &Playbook, starts: &[Start], callable: &BTreeSet<&str>, scripts: Scripts) -> Vec<Finding> {
    let all = playbook.tools.iter().enumerate();
    let tools: Vec<(usize, &Tool)> = all.filter(|(_, tool)| callable.contains(tool.spec.name.as_str())).collect();
    let mut trial = Trial { playbook, scripts, said: BTreeSet::new(), outcomes: BTreeMap::new() };
    let playable = || starts.iter().filter(|start| start.is_playable);
    for (_, tool) in &tools {
        for start in playable().take(WORLDS) {
            for arguments in samples_on(tool, &start.world) {
                trial.sample(tool, start, &start.world, &arguments, "");
            }
        }
    }
    let ends: Vec<(&Start, World)> = playable()
        .filter(|start| start.scenario.is_some())
        .take(SCRIPTS)
        .map(|start| (start, trial.play(start, callable)))
        .collect();
    for (_, tool) in &tools {
        for (start, end) in &ends {
            if !trial.is_refused(tool) {
                break;
            }
            for arguments in samples_on(tool, end) {
                trial.sample(tool, start, end, &arguments, " after its script");
            }
        }
    }
    let scripted: BTreeSet<&str> = starts.iter().flat_map(calls_of_script).map(|call| call.tool.as_str()).collect();
    // That no scenario uses a tool is a mistake of its playbook only if these are all scenarios that there are.
    let is_expected = scripts == Scripts::ToBeTried && !scripted.is_empty();
    let findings = tools.iter().flat_map(|(i, tool)| {
        let outcomes = trial.outcomes.remove(tool.spec.name.as_str()).unwrap_or_default();
        let in_scripts = match (scripted.contains(tool.spec.name.as_str()), is_expected) {
            (true, _) => InScripts::Called,
            (false, true) => InScripts::NeverCalled,
            (false, false) => InScripts::NotExpected,
        };
        outcomes.findings(playbook, *i, tool, in_scripts)
    });
    findings.collect()
}

fn samples_on(tool: &Tool, world: &World) -> Vec<Value> {
    let mut calls = samples::calls_on(tool, world);
    for call in samples::calls_as_recorded(tool, world) {
        if !calls.contains(&call) {
            calls.push(call);
        }
    }
    calls
}

fn calls_of_script(start: &Start) -> impl Iterator<Item = &ScriptCall> {
    let steps = start.scenario.iter().flat_map(|scenario| &scenario.script);
    steps.flat_map(|step: &ScriptStep| step.user_calls.iter().chain(&step.calls))
}

/// Whether scripts call a tool.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InScripts {
    Called,
    NeverCalled,
    NotExpected,
}

/// Calls, and what they came to.
struct Trial<'a> {
    playbook: &'a Playbook,
    scripts: Scripts,
    /// Why calls broke, once for all tools: a helper or the hook breaks them all.
    said: BTreeSet<String>,
    /// By tool.
    outcomes: BTreeMap<&'a str, Outcomes>,
}

/// What calls of a tool came to.
#[derive(Default)]
struct Outcomes {
    /// In words, once each.
    broken: BTreeSet<(Severity, String)>,
    succeeded: usize,
    without_answer: bool,
    /// A call of a script was made.
    scripted: bool,
    /// The first call that did not fit the tool's parameters, and why.
    unfit: Option<String>,
    /// The first call that `fail` refused, with what it said.
    failed: Option<String>,
    /// The first change that the world's rules refused.
    refused: Option<String>,
}

/// A call on a world, to be told of.
struct Call<'a> {
    start: &'a Start,
    world: &'a World,
    arguments: &'a Value,
    id_seed: &'a str,
    /// The call in words.
    called: String,
}

impl<'a> Trial<'a> {
    /// `after`: what was done before in the world of `start`, in words.
    fn sample(&mut self, tool: &'a Tool, start: &Start, world: &World, arguments: &Value, after: &str) {
        let outcomes = self.outcomes.entry(&tool.spec.name).or_default();
        let faults = tool.argument_faults(arguments);
        if !faults.is_empty() {
            outcomes.unfit.get_or_insert_with(|| format!("{arguments}: {}", faults.join("; ")));
            return;
        }
        let called = format!("{}({arguments}) in {}{after}", tool.spec.name, start.name);
        self.make(tool, &Call { start, world, arguments, id_seed: "check", called }, true);
    }

    /// Makes the calls of a scenario's script up to the first that only a conversation can make. The world after them.
    fn play(&mut self, start: &Start, callable: &BTreeSet<&str>) -> World {
        let (mut world, playbook) = (start.world.clone(), self.playbook);
        // With planned faults, the calls of a script do not all reach their tools.
        if start.scenario.iter().any(|scenario| !scenario.faults.is_empty()) {
            return world;
        }
        for (i, call) in calls_of_script(start).enumerate() {
            let Some(tool) = playbook.tool(&call.tool) else { break };
            if tool.simulate() != Simulate::Code && tool.writes.is_empty() {
                continue;
            }
            let arguments = Value::Object(call.args.clone());
            let is_made = callable.contains(tool.spec.name.as_str()) && !has_template(&arguments);
            if !is_made || !tool.argument_faults(&arguments).is_empty() {
                break;
            }
            // Every call makes ids of its own.
            let id_seed = format!("check {i}");
            let called = format!("{}({arguments}) in the script of {}", tool.spec.name, start.name);
            let made = Call { start, world: &world, arguments: &arguments, id_seed: &id_seed, called };
            self.outcomes.entry(&tool.spec.name).or_default().scripted = true;
            match self.make(tool, &made, self.scripts == Scripts::ToBeTried) {
                Some(next) => world = next,
                None => break,
            }
        }
        world
    }

    /// The world after a call whose arguments fit. `reports`: whether it is told if the call breaks.
    fn make(&mut self, tool: &'a Tool, call: &Call<'_>, reports: bool) -> Option<World> {
        let Call { start, world, arguments, id_seed, called } = call;
        let outcomes = self.outcomes.entry(&tool.spec.name).or_default();
        let given = tool.complete(arguments.as_object().cloned().unwrap_or_default());
        let moment = CallContext { now: &start.now, id_seed };
        let severity = if start.fault.is_none() { Severity::Error } else { Severity::Warning };
        let mut is_broken = |reason: String, how: &str| {
            if reports && self.said.insert(reason.clone()) {
                outcomes.broken.insert((severity, format!("{called} {how}: {reason}")));
            }
        };
        let (answer, patch) = match self.playbook.run_code(tool, &given, world, &moment) {
            Ok(done) => done,
            Err(CodeError::Refused(said)) => {
                outcomes.failed.get_or_insert_with(|| format!("{called}: {said}"));
                return None;
            }
            Err(CodeError::Broken(reason)) => {
                is_broken(reason, "breaks");
                return None;
            }
        };
        match self.playbook.commit(tool, &given, world, &patch, &start.now) {
            Ok(next) => {
                outcomes.succeeded += 1;
                outcomes.without_answer |= answer.is_null();
                Some(next)
            }
            Err(Refusal::Rule(reason)) => {
                outcomes.refused.get_or_insert_with(|| format!("{called}: {reason}"));
                None
            }
            Err(Refusal::Broken(reason)) => {
                is_broken(reason, "is undone");
                None
            }
        }
    }

    /// Whether all calls so far were refused, so that calls in another world may tell more.
    fn is_refused(&self, tool: &Tool) -> bool {
        self.outcomes.get(tool.spec.name.as_str()).is_some_and(|outcomes| {
            let is_refused = outcomes.failed.is_some() || outcomes.refused.is_some();
            is_refused && outcomes.succeeded == 0 && outcomes.broken.is_empty()
        })
    }
}

/// Whether a text among arguments is rendered first, from answers that a conversation has.
fn has_template(arguments: &Value) -> bool {
    match arguments {
        Value::String(text) => text.contains("{{") || text.contains("{%"),
        Value::Array(items) => items.iter().any(has_template),
        Value::Object(map) => map.values().any(has_template),
        _ => false,
    }
}

impl Outcomes {
    /// `index`: of the tool.
    fn findings(self, playbook: &Playbook, index: usize, tool: &Tool, in_scripts: InScripts) -> Vec<Finding> {
        let name = &tool.spec.name;
        let here = || Place::Function(name.clone());
        let unchecked = self.unchecked(playbook, index, tool, in_scripts);
        let broken = self.broken.into_iter();
        let mut findings: Vec<Finding> =
            broken.map(|(severity, message)| Finding { severity, place: here(), message }).collect();
        // Where one call broke, others would say it again in other words.
        findings.truncate(2);
        if self.without_answer || !playbook.code.answers(name) {
            let message = "returns nothing, so that the agent reads `null`: return what it should read";
            findings.push(Finding::warning(here(), message.to_owned()));
        }
        if findings.is_empty() {
            findings.extend(unchecked);
        }
        findings
    }

    /// Why nothing is known of a tool although it was tried.
    fn unchecked(&self, playbook: &Playbook, index: usize, tool: &Tool, in_scripts: InScripts) -> Option<Finding> {
        // A script that only a conversation can play shows that the tool can be called.
        if self.succeeded > 0 || (in_scripts == InScripts::Called && !self.scripted) {
            return None;
        }
        let here = || Place::Function(tool.spec.name.clone());
        if let Some(refused) = &self.refused {
            let message = format!("no sample call is allowed by the rules of the world: {refused}");
            return Some(Finding::warning(here(), message));
        }
        match (&self.failed, &self.unfit) {
            // Many tools wait for another call, which only a script can make.
            (Some(failed), _) if in_scripts == InScripts::NeverCalled => {
                let message = format!(
                    "every sample call is refused by `fail`, so nothing after that is checked; call it in a script: \
                     {failed}"
                );
                Some(Finding::warning(here(), message))
            }
            (None, Some(unfit)) => {
                let message = format!(
                    "no sample call fits, so the function is not checked; give the arguments `examples:`: {unfit}"
                );
                Some(Finding::warning(Place::tool(&playbook.spec, index, "parameters"), message))
            }
            _ => None,
        }
    }
}
