//! Tools by code: Starlark functions, deterministic and bounded.
//!
//! A function gets the world as nested dicts, changes them in place and returns its answer; `fail` rolls everything
//! back. Starlark has no clock, no randomness, no files and no network, and what a call may use up is limited.

mod builtins;
pub mod signature;

use std::cell::Cell;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use starlark::ErrorKind;
use starlark::environment::{FrozenModule, Globals, GlobalsBuilder, LibraryExtension, Module};
use starlark::eval::Evaluator;
use starlark::syntax::{AstModule, Dialect};
use starlark::values::Value as Star;
use starlark::values::dict::DictRef;
use starlark::values::list::ListRef;
use starlark::values::structs::{AllocStruct, StructRef};
use starlark::values::tuple::TupleRef;

use builtins::Surroundings;

use crate::world::hex;

/// Function calls and loop rounds of one tool call.
const MAX_TICKS: u64 = 1_000_000;
const MAX_HEAP_BYTES: usize = 128 << 20;
const MAX_STACK: usize = 64;
/// Lists and dicts within each other, in an answer or in the world.
const MAX_DEPTH: usize = 48;

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
        let ast = AstModule::parse(file, text, &dialect()).map_err(|e| e.to_string())?;
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

    /// Calls a tool's function. Returns its answer and the world as the function left it.
    pub fn call(
        &self,
        function: &str,
        world: &Value,
        arguments: &Map<String, Value>,
        moment: &Moment<'_>,
    ) -> Result<(Value, Value), CodeError> {
        self.evaluate(function, moment, |eval, function| {
            let heap = eval.heap();
            let star_world = heap.alloc(world);
            let today = moment.now.get(..10).unwrap_or(moment.now);
            let ctx = heap.alloc(AllocStruct([("now", moment.now), ("today", today)]));
            let named: Vec<(&str, Star<'_>)> = arguments.iter().map(|(k, v)| (k.as_str(), heap.alloc(v))).collect();
            let answer = eval.eval_function(function, &[star_world, ctx], &named)?;
            Ok((to_json(answer)?, to_json(star_world)?))
        })
    }

    /// Whether a boolean function of the world is true.
    pub fn holds(&self, function: &str, world: &Value) -> Result<bool, CodeError> {
        let moment = Moment { now: "", id_seed: "" };
        self.evaluate(function, &moment, |eval, function| {
            let world = eval.heap().alloc(world);
            let answer = eval.eval_function(function, &[world], &[])?;
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

fn to_json(value: Star<'_>) -> starlark::Result<Value> {
    if deeper_than(value, MAX_DEPTH) {
        return Err(broken(format!("nests lists and dicts deeper than {MAX_DEPTH} levels")));
    }
    value.to_json_value().map_err(|e| broken(format!("answers something that is not JSON: {e}")))
}

/// Also true of values that contain themselves.
fn deeper_than(value: Star<'_>, levels: usize) -> bool {
    let mut inner: Vec<Star<'_>> = Vec::new();
    if let Some(list) = ListRef::from_value(value) {
        inner.extend(list.iter());
    } else if let Some(tuple) = TupleRef::from_value(value) {
        inner.extend(tuple.iter());
    } else if let Some(dict) = DictRef::from_value(value) {
        inner.extend(dict.values());
    } else if let Some(fields) = StructRef::from_value(value) {
        inner.extend(fields.iter().map(|(_, field)| field));
    } else {
        return false;
    }
    levels == 0 || inner.into_iter().any(|item| deeper_than(item, levels - 1))
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
    format!("{prefix}_{}", hex(&digest[..4]))
}

#[cfg(test)]
mod tests;
