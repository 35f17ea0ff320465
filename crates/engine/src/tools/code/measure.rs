//! How large a value is, and whether Starlark may go through it.

use std::cmp::Ordering;

use starlark::eval::Evaluator;
use starlark::values::dict::DictRef;
use starlark::values::float::UnpackFloat;
use starlark::values::list::ListRef;
use starlark::values::structs::StructRef;
use starlark::values::tuple::TupleRef;
use starlark::values::{UnpackValue, Value};

use super::broken;
use super::call_environment::{charge_copied, charge_entries, charge_length};
use crate::limits::MOST_DIGITS;

/// How many items or bytes a text, list, tuple, dict or set has.
pub fn length_of(value: Value<'_>) -> Option<usize> {
    if let Some(text) = value.unpack_str() {
        return Some(text.len());
    }
    // Asking a number for its length makes an error, which costs far more than to look at its type.
    let has_length = matches!(value.get_type(), "list" | "tuple" | "dict" | "set");
    has_length.then(|| value.length().ok()).flatten().and_then(|length| usize::try_from(length).ok())
}

/// Values that one may hold which is hashed or compared, and levels of them. Starlark would go through all of them, as often
/// as they stand there, and call itself for each level.
const MOST_REACHED: usize = 10_000;
const MOST_LEVELS: usize = 48;

/// # Errors
/// It holds too much to be hashed or compared.
pub fn reachable(value: Value<'_>) -> starlark::Result<()> {
    // Most keys.
    if value.unpack_str().is_some() || value.unpack_i32().is_some() {
        return Ok(());
    }
    let mut left = MOST_REACHED;
    let fits = reach(value, MOST_LEVELS, &mut left);
    let message = || {
        format!(
            "a value is looked for that holds more than {MOST_REACHED} others, or nests deeper than {MOST_LEVELS} levels"
        )
    };
    if fits { Ok(()) } else { Err(broken(message())) }
}

/// The same for each item of a list or tuple.
///
/// # Errors
/// See [`reachable`].
pub fn all_reachable(value: Value<'_>) -> starlark::Result<()> {
    let items = ListRef::from_value(value).map(ListRef::content);
    let items = items.or_else(|| TupleRef::from_value(value).map(TupleRef::content));
    items.into_iter().flatten().try_for_each(|item| reachable(*item))
}

fn reach(value: Value<'_>, levels: usize, left: &mut usize) -> bool {
    let Some(fewer) = left.checked_sub(1) else { return false };
    *left = fewer;
    let mut inner = |value: Value<'_>| levels > 0 && reach(value, levels - 1, left);
    if let Some(tuple) = TupleRef::from_value(value) {
        tuple.iter().all(&mut inner)
    } else if let Some(list) = ListRef::from_value(value) {
        list.iter().all(&mut inner)
    } else if let Some(fields) = StructRef::from_value(value) {
        fields.iter().all(|(_, value)| inner(value))
    } else if let Some(dict) = DictRef::from_value(value) {
        dict.iter().all(|(_, value)| inner(value))
    } else {
        true
    }
}

/// # Errors
/// They cannot be compared, or hold too much.
pub fn compare<'v>(a: Value<'v>, b: Value<'v>) -> starlark::Result<Ordering> {
    reachable(a)?;
    reachable(b)?;
    a.compare(b)
}

/// Counts that a value is gone through, or copied.
pub fn weigh(value: Value<'_>, eval: &mut Evaluator<'_, '_, '_>) -> starlark::Result<()> {
    let length = length_of(value).unwrap_or(0);
    match value.get_type() {
        "string" => charge_copied(eval, length),
        "set" => charge_entries(eval, length),
        _ => charge_length(eval, length),
    }
}

/// An integer that is no larger than a float, and anything else as it is.
pub fn number_within_bounds(value: Value<'_>) -> starlark::Result<Value<'_>> {
    let is_large = value.unpack_i32().is_none()
        && value.get_type() == "int"
        && !UnpackFloat::unpack_value_opt(value).is_some_and(|number| number.0.is_finite());
    if is_large { Err(broken(format!("the number has more than {MOST_DIGITS} digits"))) } else { Ok(value) }
}
