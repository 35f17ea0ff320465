//! What [operators and calls](super::source) of an author's source are compiled to. Starlark's own would repeat texts and
//! lists to any length, write numbers with six digits, and know no dict but their own.

use starlark::collections::SmallMap;
use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::starlark_module;
use starlark::values::tuple::UnpackTuple;
use starlark::values::{Heap, Value};

use super::surroundings::{LONGEST, charge_text};
use super::{broken, format, reference};

/// Operators, and the functions below that they become.
pub const OPERATORS: [(&str, &str); 7] = [
    ("*", MULTIPLY),
    ("%", PERCENT),
    ("|", UNITE),
    ("==", "are_equal"),
    ("!=", "are_unequal"),
    ("in", "is_within"),
    ("not in", "is_not_within"),
];
pub const MULTIPLY: &str = "multiply_within_bounds";
pub const PERCENT: &str = "percent_within_bounds";
pub const UNITE: &str = "unite_dicts";
/// What `text.format(...)` becomes.
pub const FORMAT: &str = "format_within_bounds";
/// What stands around a dict that Starlark's own functions get.
pub const PLAIN: &str = "plain_dict";
/// What `|=` becomes.
pub const UNITE_INTO: &str = "unite_into";

#[starlark_module]
pub fn functions(builder: &mut GlobalsBuilder) {
    /// `a * b`, unless it repeats something to a length that no tool needs.
    fn multiply_within_bounds<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        // Asking a number for its length makes an error, which costs far more than multiplying.
        let number = |value: Value<'v>| matches!(value.get_type(), "int" | "float");
        for (repeated, times) in [(a, b), (b, a)] {
            if !number(repeated)
                && let (Ok(length), Some(times)) = (repeated.length(), times.unpack_i32())
            {
                let length = usize::try_from(i64::from(length) * i64::from(times)).unwrap_or_default();
                if length > LONGEST {
                    return Err(broken(format!("`*` would make {length} items or bytes; {LONGEST} is the limit")));
                }
            }
        }
        a.mul(b, heap)
    }

    /// `a % b`: the rest of a division, or a text with places for values.
    fn percent_within_bounds<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let heap = eval.heap();
        match a.unpack_str() {
            Some(text) => {
                let text = format::percent(text, b, heap).map_err(broken)?;
                charge_text(eval, &text)?;
                Ok(heap.alloc_str(&text).to_value())
            }
            None => a.percent(b, heap),
        }
    }

    fn format_within_bounds<'v>(
        #[starlark(require = pos)] text: Value<'v>,
        #[starlark(args)] placed: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let heap = eval.heap();
        if let Some(text) = text.unpack_str() {
            let text = format::format(text, &placed.items, &named, heap).map_err(broken)?;
            charge_text(eval, &text)?;
            return Ok(heap.alloc_str(&text).to_value());
        }
        // An author's own `format`, in a struct.
        let own = text.get_attr("format", heap)?;
        let own = own.ok_or_else(|| broken(format!("a {} has no `format`", text.get_type())))?;
        let named: Vec<(&str, Value<'v>)> = named.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        eval.eval_function(own, &placed.items, &named)
    }

    /// `a | b`
    fn unite_dicts<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        if a.get_type() == "dict" && b.get_type() != "dict" {
            return Err(broken(format!("`|` unites two dicts, and a {} is none", b.get_type())));
        }
        a.bit_or(reference::plain(b, heap)?, heap)
    }

    /// `a |= b`: a dict takes the entries of another.
    fn unite_into<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let heap = eval.heap();
        if a.get_type() != "dict" {
            return a.bit_or(b, heap);
        }
        if b.get_type() != "dict" {
            return Err(broken(format!("`|=` unites two dicts, and a {} is none", b.get_type())));
        }
        let update = a.get_attr("update", heap)?.ok_or_else(|| broken("a dict has no `update`".to_owned()))?;
        let b = reference::plain(b, heap)?;
        eval.eval_function(update, &[b], &[])?;
        Ok(a)
    }

    fn plain_dict<'v>(#[starlark(require = pos)] value: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        reference::plain(value, heap)
    }

    fn are_equal<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        heap: Heap<'v>,
    ) -> starlark::Result<bool> {
        reference::equal(a, b, heap)
    }

    fn are_unequal<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        heap: Heap<'v>,
    ) -> starlark::Result<bool> {
        reference::equal(a, b, heap).map(|equal| !equal)
    }

    fn is_within<'v>(
        #[starlark(require = pos)] value: Value<'v>,
        #[starlark(require = pos)] container: Value<'v>,
        heap: Heap<'v>,
    ) -> starlark::Result<bool> {
        reference::contains(container, value, heap)
    }

    fn is_not_within<'v>(
        #[starlark(require = pos)] value: Value<'v>,
        #[starlark(require = pos)] container: Value<'v>,
        heap: Heap<'v>,
    ) -> starlark::Result<bool> {
        reference::contains(container, value, heap).map(|within| !within)
    }
}
