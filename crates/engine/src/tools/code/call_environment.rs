//! The environment of a call: the source of its ids, what it has used up, and what it printed.

#![expect(unsafe_code, reason = "the derive implements a marker trait of the starlark crate")]

use std::cell::{Cell, RefCell};

use starlark::any::ProvidesStaticType;
use starlark::eval::Evaluator;

use super::{broken, errors};
use crate::limits::{MOST_HEAP_BYTES, MOST_ITEMS, MOST_STEPS};

/// Bytes of text that are written, or items that are gone through, for the price of a step.
const BYTES_A_STEP: usize = 64;
/// Bytes of text that are copied or searched for the price of a step.
const COPIED_A_STEP: usize = 1024;
/// Functions of ours that are called for the price of a step: code without loops calls them without one.
const CALLS_A_STEP: u64 = 16;
/// What an entry of a dict or set takes outside of the heap that Starlark measures, in bytes.
const ENTRY_BYTES: usize = 48;
/// Bytes of print that are kept.
const PRINTED: usize = 65_536;

/// Reachable from all functions that are not Starlark's own.
#[derive(Debug, Default, ProvidesStaticType)]
pub struct CallEnvironment<'a> {
    /// `None` where there is no call: at the top level of a file.
    pub id_seed: Option<&'a str>,
    ids: Cell<u32>,
    /// Functions of ours that were called, and what they did beyond that. Starlark does not count it.
    calls: Cell<u64>,
    /// Bytes of dicts and sets, which Starlark does not measure.
    outside: Cell<usize>,
    printed: RefCell<Vec<String>>,
    printed_bytes: Cell<usize>,
}

impl<'a> CallEnvironment<'a> {
    pub fn of_call(id_seed: &'a str) -> Self {
        Self { id_seed: Some(id_seed), ..Self::default() }
    }

    pub fn into_printed(self) -> Vec<String> {
        self.printed.into_inner()
    }

    pub fn fresh_id(&self, prefix: &str) -> Option<String> {
        let n = self.ids.get();
        self.ids.set(n + 1);
        Some(super::fresh_id(self.id_seed?, prefix, n))
    }

    pub fn print(&self, line: String) {
        let bytes = self.printed_bytes.get() + line.len();
        if bytes <= PRINTED {
            self.printed.borrow_mut().push(line);
        } else if self.printed_bytes.get() <= PRINTED {
            self.printed.borrow_mut().push(format!("... what follows is more than {PRINTED} bytes"));
        }
        self.printed_bytes.set(bytes);
    }
}

impl CallEnvironment<'_> {
    /// Beside those that Starlark counts.
    pub fn steps(&self) -> u64 {
        self.calls.get() / CALLS_A_STEP
    }
}

/// Counts work that Starlark does not see, and looks whether all that was made still fits.
///
/// # Errors
/// The call has used up its steps or its memory.
pub fn charge(eval: &mut Evaluator<'_, '_, '_>, steps: usize) -> starlark::Result<()> {
    charge_for(eval, steps, 0)
}

/// The same for what was written, copied or gone through: bytes of a text, items of a list.
///
/// # Errors
/// See [`charge`].
pub fn charge_length(eval: &mut Evaluator<'_, '_, '_>, length: usize) -> starlark::Result<()> {
    charge(eval, length / BYTES_A_STEP)
}

/// The same for a text that was copied or searched.
///
/// # Errors
/// See [`charge`].
pub fn charge_copied(eval: &mut Evaluator<'_, '_, '_>, bytes: usize) -> starlark::Result<()> {
    charge(eval, bytes / COPIED_A_STEP)
}

/// The same for a dict or set of so many entries that was made.
///
/// # Errors
/// See [`charge`].
pub fn charge_entries(eval: &mut Evaluator<'_, '_, '_>, entries: usize) -> starlark::Result<()> {
    charge_for(eval, entries / BYTES_A_STEP, entries.saturating_mul(ENTRY_BYTES))
}

fn charge_for(eval: &mut Evaluator<'_, '_, '_>, steps: usize, bytes: usize) -> starlark::Result<()> {
    let mut outside = bytes;
    if let Some(surroundings) = eval.extra.and_then(|extra| extra.downcast_ref::<CallEnvironment>()) {
        let calls = surroundings.calls.get().saturating_add((steps as u64).saturating_mul(CALLS_A_STEP) + 1);
        surroundings.calls.set(calls);
        if calls > MOST_STEPS * CALLS_A_STEP {
            return Err(broken(errors::TOO_MANY_STEPS.to_owned()));
        }
        outside = surroundings.outside.get().saturating_add(bytes);
        surroundings.outside.set(outside);
    }
    let fits = eval.heap().allocated_bytes().saturating_add(outside) <= MOST_HEAP_BYTES;
    if fits { Ok(()) } else { Err(broken(errors::TOO_MUCH_MEMORY.to_owned())) }
}

/// # Errors
/// So many items or bytes are more than one step may make.
pub fn fits(what: &str, length: usize) -> starlark::Result<()> {
    let most = || broken(format!("{what} would make {length} items or bytes; {MOST_ITEMS} is the limit"));
    if length > MOST_ITEMS { Err(most()) } else { Ok(()) }
}
