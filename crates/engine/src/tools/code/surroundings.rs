//! What surrounds a call: where its ids come from, what it has used up, and what it printed.

#![expect(unsafe_code, reason = "the derive implements a marker trait of the starlark crate")]

use std::cell::{Cell, RefCell};

use starlark::any::ProvidesStaticType;
use starlark::eval::Evaluator;

use super::{MAX_HEAP_BYTES, MAX_STEPS, broken, errors};

/// Longest list or text, in items or bytes, that one step may make.
pub const LONGEST: usize = 1_000_000;
/// Bytes of text that are written for the price of a step.
const BYTES_A_STEP: usize = 64;
/// Bytes of print that are kept.
const PRINTED: usize = 65_536;

/// Reachable from all functions that are not Starlark's own.
#[derive(Debug, Default, ProvidesStaticType)]
pub struct Surroundings<'a> {
    /// `None` where there is no call: at the top level of a file.
    pub id_seed: Option<&'a str>,
    ids: Cell<u32>,
    /// Beside those that Starlark counts.
    steps: Cell<u64>,
    printed: RefCell<Vec<String>>,
    printed_bytes: Cell<usize>,
}

impl<'a> Surroundings<'a> {
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

/// Counts work that Starlark does not see, and looks whether all that was made still fits.
///
/// # Errors
/// The call has used up its steps or its memory.
pub fn charge(eval: &mut Evaluator<'_, '_, '_>, steps: usize) -> starlark::Result<()> {
    if let Some(surroundings) = eval.extra.and_then(|extra| extra.downcast_ref::<Surroundings>()) {
        let steps = surroundings.steps.get() + steps as u64;
        surroundings.steps.set(steps);
        if steps > MAX_STEPS {
            return Err(broken(errors::TOO_MANY_STEPS.to_owned()));
        }
    }
    let fits = eval.heap().allocated_bytes() <= MAX_HEAP_BYTES;
    if fits { Ok(()) } else { Err(broken(errors::TOO_MUCH_MEMORY.to_owned())) }
}

/// The same for a text that was written.
///
/// # Errors
/// See [`charge`].
pub fn charge_text(eval: &mut Evaluator<'_, '_, '_>, text: &str) -> starlark::Result<()> {
    charge(eval, text.len() / BYTES_A_STEP)
}
