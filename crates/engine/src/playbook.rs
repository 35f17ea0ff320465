//! A playbook ready to play: schemas compiled, code loaded, templates parsed.

mod agents;
mod arguments;
pub mod check;
mod compile;
mod faults;
mod rules;
pub mod schema;

use std::collections::HashMap;
use std::sync::Arc;

use domain::patch::Patch;
use domain::playbook::{Simulate, Tool as ToolSpec};
use domain::scenario::{Scenario, laid_over};
use domain::transcript::Call;
use jsonschema::Validator;
use minijinja::Environment;
use parking_lot::Mutex;
use serde_json::{Map, Value};

use crate::templates::rfc3339;
use crate::tools::code::{CallContext, CodeError};
use crate::tools::{Code, Pattern, authority};
use crate::world::{Node, World};

pub use agents::{Agent, Instructions};
use arguments::Arguments;
pub use compile::{Sources, compile};
use rules::Rules;

pub struct Playbook {
    pub spec: domain::playbook::Playbook,
    pub tools: Vec<Tool>,
    /// Records that every scenario shares.
    pub base: World,
    pub policy: String,
    /// The playbook's own templates, by file name.
    pub templates: Environment<'static>,
    pub code: Code,
    rules: Rules,
    pub schema_json: Value,
    /// Made when they are first needed.
    instructions: Mutex<HashMap<String, Arc<Instructions>>>,
}

pub struct Tool {
    pub spec: ToolSpec,
    /// Its own places, and for code those of the playbook's `after_call`.
    pub writes: Vec<Pattern>,
    pub reads: Vec<Pattern>,
    /// As `OpenAI` function calling describes it, once for all who are asked.
    function: Arc<Value>,
    arguments: Arguments,
    returns: Option<Validator>,
}

/// Why a world is none of this playbook's, or a change may not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The playbook is at fault: it writes where it may not, or an invariant cannot even be evaluated.
    #[error("{0}")]
    Broken(String),
    /// A rule of the world would be broken, of its schema or an invariant: a backend would say no, too.
    #[error("{0}")]
    Rule(String),
}

impl Playbook {
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|t| t.spec.name == name)
    }

    /// The arguments of a call as its tool got them: with the schema's defaults for those that were left out. Of a call that no
    /// tool took, as they were written, as far as they are JSON.
    pub fn arguments_of(&self, call: &Call) -> Map<String, Value> {
        let Ok(Value::Object(arguments)) = serde_json::from_str(&call.arguments) else { return Map::new() };
        match self.tool(&call.tool).filter(|_| !call.answer.malformed()) {
            Some(tool) => tool.complete(arguments),
            None => arguments,
        }
    }

    /// The initial world of a scenario: its records laid over the base, collection by collection. What it does not
    /// change is shared by all.
    pub fn initial_world(&self, system_facts: &Map<String, Value>) -> World {
        let patch = laid_over(system_facts, |part| matches!(self.base.get(part), Some(Node::Map(_))));
        self.base.apply(&patch).map_or_else(|_| self.base.clone(), |world| World::from_root(world.root().clone()))
    }

    /// # Errors
    /// What is wrong with a world: its schema first, then its invariants.
    pub fn check_world(&self, world: &World, now: &str) -> Result<(), Refusal> {
        self.rules.check(world, &self.spec.world.invariants, &self.code, now)
    }

    /// What is wrong with the base world, save that it lacks what scenarios may add.
    fn base_faults(&self) -> Vec<String> {
        self.rules.faults_of_base(&self.base)
    }

    /// The clock of a conversation whose scenario has none of its own.
    pub fn now(&self) -> String {
        rfc3339(self.spec.clock)
    }

    /// The clock of a scenario's conversations.
    pub fn now_in(&self, scenario: &Scenario) -> String {
        rfc3339(scenario.clock.unwrap_or(self.spec.clock))
    }

    /// The world after a change that a call asks for, if the call may make it.
    ///
    /// # Errors
    /// Why not, in words that help whoever proposed the change.
    pub fn commit(
        &self,
        tool: &Tool,
        arguments: &Map<String, Value>,
        world: &World,
        patch: &Patch,
        now: &str,
    ) -> Result<World, Refusal> {
        if patch.is_empty() {
            return Ok(world.clone());
        }
        if let Some(op) = authority::outside(patch, &tool.writes, arguments, world) {
            return Err(Refusal::Broken(self.may_not(tool, op.path())));
        }
        let next = world.apply(patch).map_err(|e| Refusal::Broken(e.to_string()))?;
        self.rules.check_change(&next, patch, &self.spec.world.invariants, &self.code, now)?;
        Ok(next)
    }

    fn may_not(&self, tool: &Tool, path: &str) -> String {
        let name = &tool.spec.name;
        match self.hook().filter(|_| tool.simulate() == Simulate::Code) {
            Some(hook) => format!("neither `{name}` nor the hook `{hook}` may change {path}; no `writes` names it"),
            None => format!("`{name}` may not change {path}; its `writes` do not name it"),
        }
    }

    fn hook(&self) -> Option<&str> {
        self.spec.after_call.as_ref().map(|hook| hook.function.as_str())
    }

    /// Runs a tool's function and works out what it changed.
    pub fn run_code(
        &self,
        tool: &Tool,
        arguments: &Map<String, Value>,
        world: &World,
        moment: &CallContext<'_>,
    ) -> Result<(Value, Patch), CodeError> {
        self.code.call(&tool.spec.name, self.hook(), world, arguments, moment)
    }

    /// What a tool's function prints for its author.
    pub fn printed(
        &self,
        tool: &Tool,
        arguments: &Map<String, Value>,
        world: &World,
        moment: &CallContext<'_>,
    ) -> Vec<String> {
        self.code.call_printing(&tool.spec.name, self.hook(), world, arguments, moment).1
    }
}

impl Tool {
    pub const fn simulate(&self) -> Simulate {
        self.spec.simulate
    }

    /// What is wrong with the arguments of a call; empty if nothing is.
    pub fn argument_faults(&self, arguments: &Value) -> Vec<String> {
        self.arguments.faults(arguments)
    }

    /// Arguments in which nothing is wrong, with the defaults of the schema for those that are left out.
    pub fn complete(&self, arguments: Map<String, Value>) -> Map<String, Value> {
        self.arguments.complete(arguments)
    }

    pub fn response_faults(&self, response: &Value) -> Vec<String> {
        self.returns.as_ref().map(|validator| faults::of(validator, response)).unwrap_or_default()
    }
}

/// Name of the expression of the i-th invariant.
fn invariant(i: usize) -> String {
    format!("invariant_{i}")
}

/// Name of the expression of the i-th rule of the policy.
pub(crate) fn policy_rule(i: usize) -> String {
    format!("policy_rule_{i}")
}

#[cfg(test)]
mod tests;
