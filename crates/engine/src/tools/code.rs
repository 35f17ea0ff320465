//! Tools by code: Starlark functions, deterministic and bounded.
//!
//! A function gets the world as nested dicts, changes them in place and returns its answer; `fail` rolls everything
//! back. The dicts refer to the persistent world ([`reference`]): nothing is copied that is not touched.
//! Starlark has no clock, no randomness, no files and no network, and what a call may use up is limited.

mod arithmetic;
mod builtins;
mod calendar;
mod call_environment;
mod errors;
mod format;
mod measure;
mod nesting;
pub mod numbers;
mod operators;
mod reference;
pub mod signature;
pub mod source;
mod text;
mod tokens;

use std::cell::Cell;
use std::sync::LazyLock;

use domain::patch::Patch;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use starlark::ErrorKind;
use starlark::environment::{FrozenModule, Globals, GlobalsBuilder, LibraryExtension, Module};
use starlark::eval::Evaluator;
use starlark::values::structs::AllocStruct;
use starlark::values::{FrozenStringValue, Heap, Value as Star};

use call_environment::CallEnvironment;
pub use errors::{Fault, TOO_MANY_STEPS};
use source::Definition;

use crate::limits::{
    MOST_CALL_LEVELS, MOST_CHECK_STEPS, MOST_CODE_BYTES, MOST_EXPRESSION_BYTES, MOST_HEAP_BYTES, MOST_LOADED_BYTES,
    MOST_LOADING_STEPS, MOST_STEPS, MOST_VALUE_BYTES,
};
use crate::world::{Node, World};

/// The stack on which code is compiled, in bytes. What keeps the values of a file calls itself for each level of them, and
/// [`MOST_LOADED_BYTES`] hold 170,000 levels. Only what is used of it takes memory.
const COMPILER_STACK: usize = 128 << 20;

/// The compiled functions of a playbook.
pub struct Code {
    module: FrozenModule,
    file: String,
    definitions: Vec<Definition>,
}

/// What a call can read besides world and arguments.
#[derive(Debug, Clone)]
pub struct CallContext<'a> {
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

/// An expression that may use the functions of a module: an invariant, a rule of the policy, a step of a workflow.
#[derive(Debug, Clone, Copy)]
pub struct Expression<'a> {
    pub name: &'a str,
    /// What it sees beside `ctx`.
    pub sees: &'a [&'a str],
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
        let compiler = std::thread::Builder::new().stack_size(COMPILER_STACK);
        std::thread::scope(|scope| {
            let compiling = compiler.spawn_scoped(scope, || Self::compile_here(file, text, expressions));
            let unstarted = |e| CompileError::File(Fault { line: None, message: format!("cannot be compiled: {e}") });
            compiling.map_err(unstarted)?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn compile_here(file: &str, text: String, expressions: &[Expression<'_>]) -> Result<Self, CompileError> {
        Module::with_temp_heap(|module| {
            let definitions = define(&module, file, text, MOST_CODE_BYTES).map_err(CompileError::File)?;
            let mut faults = Vec::new();
            for (i, expression) in expressions.iter().enumerate() {
                // On one line, so that the lines are those of the expression.
                let parameters = [&["ctx"], expression.sees].concat().join(", ");
                let source = format!(
                    "def {EXPRESSION}{}({parameters}): return ({}\n)\n",
                    expression.name,
                    expression.text.trim()
                );
                let defined = define(&module, EXPRESSION_FILE, source, MOST_EXPRESSION_BYTES);
                faults.extend(defined.err().map(|fault| (i, fault)));
            }
            if !faults.is_empty() {
                return Err(CompileError::Expressions(faults));
            }
            let unfrozen = |e| CompileError::File(Fault { line: None, message: format!("{e:?}") });
            Ok(Self { module: module.freeze().map_err(unfrozen)?, file: file.to_owned(), definitions })
        })
    }

    pub fn has(&self, function: &str) -> bool {
        !function.starts_with(EXPRESSION) && self.module.get_any_visibility(function).is_ok()
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
        moment: &CallContext<'_>,
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
        moment: &CallContext<'_>,
    ) -> (Result<(Value, Patch), CodeError>, Vec<String>) {
        let running_hook = Cell::new(None);
        self.evaluate_with_hook(name, &running_hook, moment, &Steps::of_call(), |eval, function| {
            let heap = eval.heap();
            let (star_world, ctx) = (reference::root(world.root(), heap), context(moment, heap));
            let named: Vec<(&str, Star<'_>)> =
                arguments.iter().map(|(k, v)| (k.as_str(), reference::of_json(v, heap))).collect();
            let answer = eval.eval_function(function, &[star_world, ctx], &named)?;
            if let Some(hook) = hook {
                let function = heap.access_owned_frozen_value(&self.module.get_any_visibility(hook)?.0);
                let tool = heap.alloc_str(name).to_value();
                running_hook.set(Some(hook));
                eval.eval_function(function, &[star_world, ctx, tool, answer], &[])?;
                running_hook.set(None);
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
    pub fn holds(
        &self,
        name: &str,
        world: &World,
        record: Option<Record<'_>>,
        now: &str,
        steps: &Steps,
    ) -> Result<bool, CodeError> {
        self.is_true(name, now, steps, |heap| {
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
        self.is_true(name, now, &Steps::of_call(), |heap| {
            let worlds = [end, start].map(|world| reference::root(world.root(), heap));
            vec![worlds[0], worlds[1], reference::of_json(log, heap)]
        })
    }

    /// The value of an expression over these values, which stand in the order of what it sees.
    ///
    /// # Errors
    /// The expression is broken, or says `fail`.
    pub fn value(&self, name: &str, seen: &[&Node], moment: &CallContext<'_>) -> Result<Value, CodeError> {
        let (value, _) = self.evaluate(&format!("{EXPRESSION}{name}"), moment, &Steps::of_call(), |eval, function| {
            let heap = eval.heap();
            let seen = seen.iter().map(|node| reference::alloc_with_attributes(node, heap));
            let arguments: Vec<Star<'_>> = std::iter::once(context(moment, heap)).chain(seen).collect();
            let value = eval.eval_function(function, &arguments, &[])?;
            reference::json_within(value, MOST_VALUE_BYTES).map_err(|e| broken(format!("its value {e}")))
        });
        value
    }

    /// What a function of the file returns for these values.
    ///
    /// # Errors
    /// The function is broken, or says `fail`.
    pub fn answer(
        &self,
        function: &str,
        placed: &[&Node],
        named: &[(&str, &Node)],
        moment: &CallContext<'_>,
    ) -> Result<Value, CodeError> {
        let (value, _) = self.evaluate(function, moment, &Steps::of_call(), |eval, called| {
            let heap = eval.heap();
            let placed: Vec<Star<'_>> = placed.iter().map(|n| reference::alloc_with_attributes(n, heap)).collect();
            let named = named.iter().map(|(name, n)| (*name, reference::alloc_with_attributes(n, heap)));
            let value = eval.eval_function(called, &placed, &named.collect::<Vec<_>>())?;
            reference::json_within(value, MOST_VALUE_BYTES)
                .map_err(|e| broken(format!("the value of `{function}` {e}")))
        });
        value
    }

    fn is_true(
        &self,
        name: &str,
        now: &str,
        steps: &Steps,
        seen: impl for<'v> FnOnce(Heap<'v>) -> Vec<Star<'v>>,
    ) -> Result<bool, CodeError> {
        let moment = CallContext { now, id_seed: "" };
        let (kept, _) = self.evaluate(&format!("{EXPRESSION}{name}"), &moment, steps, |eval, function| {
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
        moment: &CallContext<'_>,
        steps: &Steps,
        run: impl for<'v> FnOnce(&mut Evaluator<'v, '_, '_>, Star<'v>) -> starlark::Result<T>,
    ) -> (Result<T, CodeError>, Vec<String>) {
        self.evaluate_with_hook(function, &Cell::new(None), moment, steps, run)
    }

    /// `running_hook`: the hook, while `run` calls it. A fault is then the hook's.
    fn evaluate_with_hook<T>(
        &self,
        function: &str,
        running_hook: &Cell<Option<&str>>,
        moment: &CallContext<'_>,
        steps: &Steps,
        run: impl for<'v> FnOnce(&mut Evaluator<'v, '_, '_>, Star<'v>) -> starlark::Result<T>,
    ) -> (Result<T, CodeError>, Vec<String>) {
        let surroundings = CallEnvironment::of_call(moment.id_seed);
        let result = Module::with_temp_heap(|module| {
            let unusable = |e: &dyn std::fmt::Display| CodeError::Broken(e.to_string());
            let (owned, _) = self.module.get_any_visibility(function).map_err(|e| unusable(&e))?;
            let mut eval = Evaluator::new(&module);
            eval.extra = Some(&surroundings);
            limit(&mut eval, MOST_HEAP_BYTES, steps.of_one()).map_err(|e| unusable(&e))?;
            let owned_function = module.heap().access_owned_frozen_value(&owned);
            let result = run(&mut eval, owned_function).map_err(|e| self.code_error(&e, function, running_hook.get()));
            steps.take(eval.get_total_tick_count() + surroundings.steps());
            result
        });
        (result, surroundings.into_printed())
    }
}

/// What is left for evaluations that belong together: one for each record, of each invariant.
pub struct Steps(Cell<u64>);

impl Steps {
    pub const fn of_call() -> Self {
        Self(Cell::new(MOST_STEPS))
    }

    pub const fn of_check() -> Self {
        Self(Cell::new(MOST_CHECK_STEPS))
    }

    pub fn are_used_up(&self) -> bool {
        self.0.get() == 0
    }

    fn of_one(&self) -> u64 {
        self.0.get().clamp(1, MOST_STEPS)
    }

    fn take(&self, steps: u64) {
        self.0.set(self.0.get().saturating_sub(steps));
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

/// Adds what a source of at most so many bytes defines to a module. Its functions.
fn define(module: &Module<'_>, file: &str, text: String, most: usize) -> Result<Vec<Definition>, Fault> {
    let ast = source::parse(file, text, most)?;
    let (surroundings, definitions) = (CallEnvironment::default(), source::definitions(&ast));
    let unplaced = |message: String| Fault { line: None, message };
    let mut eval = Evaluator::new(module);
    eval.extra = Some(&surroundings);
    // To collect garbage goes through all values, before it is known how many there are.
    eval.disable_gc();
    limit(&mut eval, MOST_LOADED_BYTES, MOST_LOADING_STEPS).map_err(|e| unplaced(e.to_string()))?;
    let loaded = eval.eval_module(ast, &GLOBALS).map(drop).map_err(|e| Fault::of(&e));
    // Starlark looks only from time to time.
    if module.heap().allocated_bytes() > MOST_LOADED_BYTES {
        let message = format!("makes more than {MOST_LOADED_BYTES} bytes of values when it is loaded");
        return Err(unplaced(format!("{message}; make them in functions, or put them into the base world")));
    }
    loaded.map(|()| definitions)
}

/// `ctx`
fn context<'v>(moment: &CallContext<'_>, heap: Heap<'v>) -> Star<'v> {
    let today = moment.now.get(..10).unwrap_or(moment.now);
    heap.alloc(AllocStruct([("now", moment.now), ("today", today)]))
}

impl Code {
    /// What a hook did wrong must not look as if the tool that was called had done it.
    fn code_error(&self, error: &starlark::Error, called: &str, hook: Option<&str>) -> CodeError {
        match error.kind() {
            ErrorKind::Fail(said) => {
                let text = said.to_string();
                CodeError::Refused(text.strip_prefix("fail:").unwrap_or(&text).trim().to_owned())
            }
            _ if errors::is_placed(error) => CodeError::Broken(errors::explain(error, hook)),
            // Limits are found where there is no place; the function that was called has one.
            _ => {
                let called = hook.unwrap_or(called);
                let own = self.definitions.iter().find(|own| own.name == called);
                let place = own.map(|own| format!("{}:{}, in {called}: ", self.file, own.line)).unwrap_or_default();
                CodeError::Broken(format!("{place}{}", errors::explain(error, hook)))
            }
        }
    }
}

fn broken(message: String) -> starlark::Error {
    starlark::Error::new_other(std::io::Error::other(message))
}

fn limit(eval: &mut Evaluator<'_, '_, '_>, bytes: usize, steps: u64) -> Result<(), impl std::fmt::Display + use<>> {
    eval.set_max_callstack_size(MOST_CALL_LEVELS)
        .and_then(|()| eval.set_max_heap_size(bytes))
        .and_then(|()| eval.set_max_tick_count(steps))
}

static GLOBALS: LazyLock<Globals> = LazyLock::new(|| {
    GlobalsBuilder::extended_by(&[LibraryExtension::StructType, LibraryExtension::SetType])
        .with(builtins::functions)
        .with(calendar::functions)
        .with(operators::functions)
        .build()
});

/// The names that every expression knows: Starlark's own and ours.
pub fn builtin_names() -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| GLOBALS.names().map(FrozenStringValue::as_str).collect());
    &NAMES
}

/// The n-th fresh id of a call: eight hex digits from its seed.
pub fn fresh_id(seed: &str, prefix: &str, n: u32) -> String {
    let digest = Sha256::digest(format!("{seed}\n{prefix}\n{n}"));
    format!("{prefix}_{}", hex::encode(&digest[..4]))
}

#[cfg(test)]
mod tests;
