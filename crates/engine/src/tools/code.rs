//! Tools by code: Starlark functions, deterministic and bounded.
//!
//! A function gets the world as nested dicts, changes them in place and returns its answer; `fail` rolls everything
//! back. The dicts refer to the persistent world ([`reference`]): nothing is copied that is not touched.
//! Starlark has no clock, no randomness, no files and no network, and what a call may use up is limited.

mod arithmetic;
mod builtins;
mod reference;
pub mod signature;

use std::cell::Cell;

use domain::patch::Patch;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use starlark::ErrorKind;
use starlark::environment::{FrozenModule, Globals, GlobalsBuilder, LibraryExtension, Module};
use starlark::eval::Evaluator;
use starlark::syntax::{AstModule, Dialect};
use starlark::values::Value as Star;
use starlark::values::structs::AllocStruct;

use builtins::Surroundings;

use crate::world::{Node, World};

/// Function calls and loop rounds of one tool call.
const MAX_TICKS: u64 = 1_000_000;
const MAX_HEAP_BYTES: usize = 128 << 20;
const MAX_STACK: usize = 64;

/// The compiled functions of a playbook.
pub struct Code {
    module: FrozenModule,
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

impl Code {
    /// # Errors
    /// Syntax errors and errors of the top level, with file and line.
    pub fn compile(file: &str, text: String) -> Result<Self, String> {
        let mut ast = AstModule::parse(file, text, &dialect()).map_err(|e| e.to_string())?;
        // `*` repeats texts and lists: natively, at one step, to any length.
        ast.replace_binary_operators(&[("*".to_owned(), builtins::MULTIPLY.to_owned())].into());
        let frozen = Module::with_temp_heap(|module| {
            {
                let mut eval = Evaluator::new(&module);
                limit(&mut eval).map_err(|e| e.to_string())?;
                eval.eval_module(ast, &globals()).map_err(|e| e.to_string())?;
            }
            module.freeze().map_err(|e| format!("{e:?}"))
        })?;
        Ok(Self { module: frozen })
    }

    pub fn has(&self, function: &str) -> bool {
        self.module.get_option(function).ok().flatten().is_some()
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
        self.evaluate(name, moment, |eval, function| {
            let heap = eval.heap();
            let star_world = reference::root(world.root(), heap);
            let today = moment.now.get(..10).unwrap_or(moment.now);
            let ctx = heap.alloc(AllocStruct([("now", moment.now), ("today", today)]));
            let named: Vec<(&str, Star<'_>)> = arguments.iter().map(|(k, v)| (k.as_str(), heap.alloc(v))).collect();
            let answer = eval.eval_function(function, &[star_world, ctx], &named)?;
            if let Some(hook) = hook {
                let hook = heap.access_owned_frozen_value(&self.module.get(hook)?);
                eval.eval_function(hook, &[star_world, ctx, heap.alloc_str(name).to_value(), answer], &[])?;
            }
            let answer = reference::json(answer).map_err(|e| broken(format!("the answer {e}")))?;
            let patch = reference::changes(star_world, world.root()).map_err(|e| broken(format!("the world {e}")))?;
            Ok((answer, patch))
        })
    }

    /// Whether a boolean function of the world, and of one record with its key, is true.
    ///
    /// # Errors
    /// The function is broken.
    pub fn holds(&self, function: &str, world: &World, record: Option<(&str, &Node)>) -> Result<bool, CodeError> {
        let moment = Moment { now: "", id_seed: "" };
        self.evaluate(function, &moment, |eval, function| {
            let heap = eval.heap();
            let mut arguments = vec![reference::root(world.root(), heap)];
            if let Some((key, record)) = record {
                arguments.extend([heap.alloc_str(key).to_value(), reference::alloc(record, heap)]);
            }
            let answer = eval.eval_function(function, &arguments, &[])?;
            answer.unpack_bool().ok_or_else(|| broken(format!("is {} and not True or False", answer.get_type())))
        })
    }

    /// Whether a boolean function of the world at the end, the world at the start and what happened between is true.
    ///
    /// # Errors
    /// The function is broken.
    pub fn was_kept(&self, function: &str, end: &World, start: &World, log: &Value) -> Result<bool, CodeError> {
        let moment = Moment { now: "", id_seed: "" };
        self.evaluate(function, &moment, |eval, function| {
            let heap = eval.heap();
            let worlds = [end, start].map(|world| reference::root(world.root(), heap));
            let answer = eval.eval_function(function, &[worlds[0], worlds[1], heap.alloc(log)], &[])?;
            answer.unpack_bool().ok_or_else(|| broken(format!("is {} and not True or False", answer.get_type())))
        })
    }

    fn evaluate<T>(
        &self,
        function: &str,
        moment: &Moment<'_>,
        run: impl for<'v> FnOnce(&mut Evaluator<'v, '_, '_>, Star<'v>) -> starlark::Result<T>,
    ) -> Result<T, CodeError> {
        let owned = self.module.get(function).map_err(|e| CodeError::Broken(e.to_string()))?;
        Module::with_temp_heap(|module| {
            let surroundings = Surroundings { id_seed: moment.id_seed, ids: Cell::new(0) };
            let mut eval = Evaluator::new(&module);
            eval.extra = Some(&surroundings);
            limit(&mut eval).map_err(|e| CodeError::Broken(e.to_string()))?;
            let function = module.heap().access_owned_frozen_value(&owned);
            run(&mut eval, function).map_err(code_error)
        })
    }
}

fn code_error(error: starlark::Error) -> CodeError {
    match error.kind() {
        ErrorKind::Fail(said) => {
            let text = said.to_string();
            CodeError::Refused(text.strip_prefix("fail:").unwrap_or(&text).trim().to_owned())
        }
        _ => CodeError::Broken(error.to_string()),
    }
}

fn broken(message: String) -> starlark::Error {
    starlark::Error::new_other(std::io::Error::other(message))
}

fn limit(eval: &mut Evaluator<'_, '_, '_>) -> Result<(), impl std::fmt::Display + use<>> {
    eval.set_max_callstack_size(MAX_STACK)
        .and_then(|()| eval.set_max_heap_size(MAX_HEAP_BYTES))
        .and_then(|()| eval.set_max_tick_count(MAX_TICKS))
}

/// Standard Starlark with nothing from files: `load` is off, and so is recursion.
fn dialect() -> Dialect {
    Dialect { enable_load: false, ..Dialect::Standard }
}

fn globals() -> Globals {
    GlobalsBuilder::extended_by(&[LibraryExtension::StructType]).with(builtins::functions).build()
}

/// The n-th fresh id of a call: eight hex digits from its seed.
pub fn fresh_id(seed: &str, prefix: &str, n: u32) -> String {
    let digest = Sha256::digest(format!("{seed}\n{prefix}\n{n}"));
    format!("{prefix}_{}", hex::encode(&digest[..4]))
}

#[cfg(test)]
mod tests;
