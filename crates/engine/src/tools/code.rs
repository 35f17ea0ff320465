//! Tools by code: Starlark functions, deterministic and bounded.
//!
//! A function gets the world as nested dicts, changes them in place and returns its answer; `fail` rolls everything
//! back. The dicts refer to the persistent world ([`reference`]): nothing is copied that is not touched.
//! Starlark has no clock, no randomness, no files and no network, and what a call may use up is limited.

mod arithmetic;
mod builtins;
mod calendar;
mod errors;
mod format;
pub mod numbers;
mod operators;
mod reference;
pub mod signature;
mod source;
mod surroundings;
mod text;

use domain::patch::Patch;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use starlark::ErrorKind;
use starlark::environment::{FrozenModule, Globals, GlobalsBuilder, LibraryExtension, Module};
use starlark::eval::Evaluator;
use starlark::values::structs::AllocStruct;
use starlark::values::{Heap, Value as Star};

pub use errors::Fault;
use source::Definition;
use surroundings::Surroundings;

use crate::world::{Node, World};

/// Function calls and loop rounds of one tool call.
const MAX_STEPS: u64 = 1_000_000;
const MAX_HEAP_BYTES: usize = 128 << 20;
const MAX_STACK: usize = 64;

/// The compiled functions of a playbook.
pub struct Code {
    module: FrozenModule,
    file: String,
    definitions: Vec<Definition>,
}

/// What a call may know besides world and arguments.
#[derive(Debug, Clone)]
pub struct Moment<'a> {
    /// RFC 3339, the conversation's clock.
    pub now: &'a str,
    /// Prefix of everything fresh ids are made from: case and version of the world.
    pub id_seed: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    /// The function said `fail`: an answer of the backend, meant for the agent.
    #[error("{0}")]
    Refused(String),
    /// The function is broken or used up what it may: meant for the author.
    #[error("{0}")]
    Broken(String),
}

/// A boolean expression that may use the functions of a module: an invariant, a rule of the policy.
#[derive(Debug, Clone, Copy)]
pub struct Expression<'a> {
    pub name: &'a str,
    /// What it sees beside `ctx`.
    pub sees: &'static [&'static str],
    pub text: &'a str,
}

/// What the name of an expression's function begins with.
const EXPRESSION: &str = "_expression_";
/// The file that it is in, for messages.
const EXPRESSION_FILE: &str = "expression";

/// What does not compile: the file, or so many of its expressions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompileError {
    File(Fault),
    /// By their places.
    Expressions(Vec<(usize, Fault)>),
}

impl Code {
    /// A file, and expressions over what it defines.
    ///
    /// # Errors
    /// Syntax errors and errors of the top level.
    pub fn compile(file: &str, text: String, expressions: &[Expression<'_>]) -> Result<Self, CompileError> {
        Module::with_temp_heap(|module| {
            let definitions = define(&module, file, text).map_err(CompileError::File)?;
            let mut faults = Vec::new();
            for (i, expression) in expressions.iter().enumerate() {
                // On one line, so that the lines are those of the expression.
                let parameters = [&["ctx"], expression.sees].concat().join(", ");
                let source = format!(
                    "def {EXPRESSION}{}({parameters}): return ({}\n)\n",
                    expression.name,
                    expression.text.trim()
                );
                faults.extend(define(&module, EXPRESSION_FILE, source).err().map(|fault| (i, fault)));
            }
            if !faults.is_empty() {
                return Err(CompileError::Expressions(faults));
            }
            let unfrozen = |e| CompileError::File(Fault { line: None, message: format!("{e:?}") });
            Ok(Self { module: module.freeze().map_err(unfrozen)?, file: file.to_owned(), definitions })
        })
    }

    pub fn has(&self, function: &str) -> bool {
        self.module.get_option(function).ok().flatten().is_some()
    }

    /// Whether a function of the file returns a value somewhere.
    pub fn answers(&self, function: &str) -> bool {
        self.definitions.iter().all(|own| own.name != function || own.answers)
    }

    /// Calls a tool's function, and then the hook. Returns the answer and what both changed in the world.
    ///
    /// # Errors
    /// The function refused, or is broken; then nothing was changed.
    pub fn call(
        &self,
        name: &str,
        hook: Option<&str>,
        world: &World,
        arguments: &Map<String, Value>,
        moment: &Moment<'_>,
    ) -> Result<(Value, Patch), CodeError> {
        self.call_printing(name, hook, world, arguments, moment).0
    }

    /// The same, with what the functions printed.
    pub fn call_printing(
        &self,
        name: &str,
        hook: Option<&str>,
        world: &World,
        arguments: &Map<String, Value>,
        moment: &Moment<'_>,
    ) -> (Result<(Value, Patch), CodeError>, Vec<String>) {
        self.evaluate(name, moment, |eval, function| {
            let heap = eval.heap();
            let (star_world, ctx) = (reference::root(world.root(), heap), context(moment, heap));
            let named: Vec<(&str, Star<'_>)> = arguments.iter().map(|(k, v)| (k.as_str(), heap.alloc(v))).collect();
            let answer = eval.eval_function(function, &[star_world, ctx], &named)?;
            if let Some(hook) = hook {
                let function = heap.access_owned_frozen_value(&self.module.get(hook)?);
                let tool = heap.alloc_str(name).to_value();
                eval.eval_function(function, &[star_world, ctx, tool, answer], &[]).map_err(|e| of_hook(hook, e))?;
            }
            let answer = reference::json(answer).map_err(|e| broken(format!("the answer of `{name}` {e}")))?;
            let patch = reference::changes(star_world, world.root()).map_err(|e| broken(format!("the world {e}")))?;
            Ok((answer, patch))
        })
    }

    /// Whether an expression over the world, or over one of its records, is true.
    ///
    /// # Errors
    /// The expression is broken.
    pub fn holds(&self, name: &str, world: &World, record: Option<Record<'_>>, now: &str) -> Result<bool, CodeError> {
        self.is_true(name, now, |heap| {
            let mut seen = vec![reference::root(world.root(), heap)];
            if let Some(Record { key, node, parent }) = record {
                let parent = parent.map_or_else(Star::new_none, |parent| reference::alloc(parent, heap));
                seen.extend([heap.alloc_str(key).to_value(), reference::alloc(node, heap), parent]);
            }
            seen
        })
    }

    /// Whether an expression over the world at the end, the world at the start and what happened between is true.
    ///
    /// # Errors
    /// The expression is broken.
    pub fn was_kept(&self, name: &str, end: &World, start: &World, log: &Value, now: &str) -> Result<bool, CodeError> {
        self.is_true(name, now, |heap| {
            let worlds = [end, start].map(|world| reference::root(world.root(), heap));
            vec![worlds[0], worlds[1], heap.alloc(log)]
        })
    }

    fn is_true(
        &self,
        name: &str,
        now: &str,
        seen: impl for<'v> FnOnce(Heap<'v>) -> Vec<Star<'v>>,
    ) -> Result<bool, CodeError> {
        let moment = Moment { now, id_seed: "" };
        let (kept, _) = self.evaluate(&format!("{EXPRESSION}{name}"), &moment, |eval, function| {
            let mut arguments = vec![context(&moment, eval.heap())];
            arguments.extend(seen(eval.heap()));
            let answer = eval.eval_function(function, &arguments, &[])?;
            let not_boolean = || broken(format!("it is a {} and not True or False", answer.get_type()));
            answer.unpack_bool().ok_or_else(not_boolean)
        });
        kept
    }

    fn evaluate<T>(
        &self,
        function: &str,
        moment: &Moment<'_>,
        run: impl for<'v> FnOnce(&mut Evaluator<'v, '_, '_>, Star<'v>) -> starlark::Result<T>,
    ) -> (Result<T, CodeError>, Vec<String>) {
        let surroundings = Surroundings::of_call(moment.id_seed);
        let result = Module::with_temp_heap(|module| {
            let unusable = |e: &dyn std::fmt::Display| CodeError::Broken(e.to_string());
            let (owned, _) = self.module.get_any_visibility(function).map_err(|e| unusable(&e))?;
            let mut eval = Evaluator::new(&module);
            eval.extra = Some(&surroundings);
            limit(&mut eval).map_err(|e| unusable(&e))?;
            let owned_function = module.heap().access_owned_frozen_value(&owned);
            run(&mut eval, owned_function).map_err(|e| self.code_error(&e, function))
        });
        (result, surroundings.into_printed())
    }
}

/// One of the records that an invariant is about.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    pub key: &'a str,
    pub node: &'a Node,
    /// The record that holds it, where it is within another.
    pub parent: Option<&'a Node>,
}

/// Adds what a source defines to a module. Its functions.
fn define(module: &Module<'_>, file: &str, text: String) -> Result<Vec<Definition>, Fault> {
    let ast = source::parse(file, text).map_err(|e| Fault::of(&e))?;
    let (surroundings, definitions) = (Surroundings::default(), source::definitions(&ast));
    let mut eval = Evaluator::new(module);
    eval.extra = Some(&surroundings);
    limit(&mut eval).map_err(|e| Fault { line: None, message: e.to_string() })?;
    eval.eval_module(ast, &globals()).map(|_| definitions).map_err(|e| Fault::of(&e))
}

/// `ctx`
fn context<'v>(moment: &Moment<'_>, heap: Heap<'v>) -> Star<'v> {
    let today = moment.now.get(..10).unwrap_or(moment.now);
    heap.alloc(AllocStruct([("now", moment.now), ("today", today)]))
}

/// What a hook did wrong must not look as if the tool had done it.
fn of_hook(hook: &str, error: starlark::Error) -> starlark::Error {
    if matches!(error.kind(), ErrorKind::Fail(_)) {
        error
    } else {
        error.with_context(format!("the hook `{hook}` failed"))
    }
}

impl Code {
    fn code_error(&self, error: &starlark::Error, called: &str) -> CodeError {
        match error.kind() {
            ErrorKind::Fail(said) => {
                let text = said.to_string();
                CodeError::Refused(text.strip_prefix("fail:").unwrap_or(&text).trim().to_owned())
            }
            _ if errors::is_placed(error) => CodeError::Broken(errors::explain(error)),
            // Limits are found where there is no place; the function that was called has one.
            _ => {
                let own = self.definitions.iter().find(|own| own.name == called);
                let place = own.map(|own| format!("{}:{}, in {called}: ", self.file, own.line)).unwrap_or_default();
                CodeError::Broken(format!("{place}{}", errors::explain(error)))
            }
        }
    }
}

fn broken(message: String) -> starlark::Error {
    starlark::Error::new_other(std::io::Error::other(message))
}

fn limit(eval: &mut Evaluator<'_, '_, '_>) -> Result<(), impl std::fmt::Display + use<>> {
    eval.set_max_callstack_size(MAX_STACK)
        .and_then(|()| eval.set_max_heap_size(MAX_HEAP_BYTES))
        .and_then(|()| eval.set_max_tick_count(MAX_STEPS))
}

fn globals() -> Globals {
    GlobalsBuilder::extended_by(&[LibraryExtension::StructType, LibraryExtension::SetType])
        .with(builtins::functions)
        .with(calendar::functions)
        .with(operators::functions)
        .build()
}

/// The n-th fresh id of a call: eight hex digits from its seed.
pub fn fresh_id(seed: &str, prefix: &str, n: u32) -> String {
    let digest = Sha256::digest(format!("{seed}\n{prefix}\n{n}"));
    format!("{prefix}_{}", hex::encode(&digest[..4]))
}

#[cfg(test)]
mod tests;
