//! What [operators and calls](super::source) of an author's source are compiled to. Starlark's own would repeat texts and
//! lists to any length, write numbers with six digits, and know no dict but their own.

use std::cmp::Ordering;
use std::ops::Range;

use starlark::collections::SmallMap;
use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::starlark_module;
use starlark::values::list::ListRef;
use starlark::values::tuple::UnpackTuple;
use starlark::values::{Heap, Value};

use super::call_environment::{charge, charge_copied, charge_entries, charge_length, fits};
use super::measure::{all_reachable, compare, length_of, number_within_bounds, reachable, weigh};
use super::text::repr_of;
use super::{broken, format, reference};

/// Operators, and the functions below that they become.
pub const OPERATORS: [(&str, &str); 16] = [
    ("+", "add_within_bounds"),
    ("-", "subtract_within_bounds"),
    ("*", MULTIPLY),
    ("%", PERCENT),
    ("|", UNITE),
    ("&", "intersect_within_bounds"),
    ("^", "differ_within_bounds"),
    ("<<", SHIFT),
    ("<", "is_less"),
    ("<=", "is_at_most"),
    (">", "is_greater"),
    (">=", "is_at_least"),
    ("==", "are_equal"),
    ("!=", "are_unequal"),
    ("in", "is_within"),
    ("not in", "is_not_within"),
];
pub const MULTIPLY: &str = "multiply_within_bounds";
pub const PERCENT: &str = "percent_within_bounds";
pub const UNITE: &str = "unite_dicts";
/// Methods that multiply what they are given or that compare, and what `value.method(...)` becomes.
pub const METHODS: [(&str, &str); 6] = [
    ("format", FORMAT),
    ("replace", "replace_within_bounds"),
    ("join", "join_within_bounds"),
    ("extend", "extend_within_bounds"),
    ("index", "index_within_bounds"),
    ("remove", "remove_within_bounds"),
];
pub const FORMAT: &str = "format_within_bounds";
/// What stands around a dict that Starlark's own functions get.
pub const PLAIN: &str = "plain_dict";
/// What `|=` becomes.
pub const UNITE_INTO: &str = "unite_into";
/// What stands around the value of `+=`, `-=`, `&=` and `^=`.
pub const ADDED: &str = "added_within_bounds";
pub const SHIFT: &str = "shift_within_bounds";
/// What stands around a value that a method of Starlark's goes through.
pub const WEIGHED: &str = "weighed";
/// What stands around a dict that is written out.
pub const COUNTED: &str = "counted";
/// What stands around a value that is looked for.
pub const KEY: &str = "as_key";
/// What a method becomes that is named and not called.
pub const ATTRIBUTE: &str = "attribute_within_bounds";

#[starlark_module]
pub fn functions(builder: &mut GlobalsBuilder) {
    /// `a + b`
    fn add_within_bounds<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        // Most of all sums.
        if a.unpack_i32().is_some() && b.unpack_i32().is_some() {
            return a.add(b, eval.heap());
        }
        let length = length_of(a).unwrap_or(0) + length_of(b).unwrap_or(0);
        fits("`+`", length)?;
        if a.unpack_str().is_some() {
            charge_copied(eval, length)?;
        } else {
            charge_length(eval, length)?;
        }
        number_within_bounds(a.add(b, eval.heap())?)
    }

    /// `a - b`
    fn subtract_within_bounds<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        if a.unpack_i32().is_none() || b.unpack_i32().is_none() {
            weigh(a, eval)?;
        }
        number_within_bounds(a.sub(b, eval.heap())?)
    }

    /// `a & b`
    fn intersect_within_bounds<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        weigh(a, eval)?;
        a.bit_and(b, eval.heap())
    }

    /// `a ^ b`
    fn differ_within_bounds<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        weigh(a, eval)?;
        weigh(b, eval)?;
        a.bit_xor(b, eval.heap())
    }

    /// `a << b`
    fn shift_within_bounds<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        charge(eval, 0)?;
        number_within_bounds(a.left_shift(distance(b)?, eval.heap())?)
    }

    /// The value of `+=` and the like.
    fn added_within_bounds<'v>(
        #[starlark(require = pos)] value: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        if value.unpack_i32().is_none() {
            fits("`+=`", length_of(value).unwrap_or(0))?;
            weigh(value, eval)?;
        }
        number_within_bounds(value)
    }

    /// A value, after it was counted that all of it is gone through.
    fn weighed<'v>(
        #[starlark(require = pos)] value: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        weigh(value, eval)?;
        Ok(value)
    }

    /// A value that is to be hashed or compared, after it was found to be of a size for that.
    fn as_key<'v>(#[starlark(require = pos)] value: Value<'v>) -> starlark::Result<Value<'v>> {
        reachable(value)?;
        Ok(value)
    }

    /// `a < b`
    fn is_less<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
    ) -> starlark::Result<bool> {
        compare(a, b).map(Ordering::is_lt)
    }

    /// `a <= b`
    fn is_at_most<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
    ) -> starlark::Result<bool> {
        compare(a, b).map(Ordering::is_le)
    }

    /// `a > b`
    fn is_greater<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
    ) -> starlark::Result<bool> {
        compare(a, b).map(Ordering::is_gt)
    }

    /// `a >= b`
    fn is_at_least<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
    ) -> starlark::Result<bool> {
        compare(a, b).map(Ordering::is_ge)
    }

    /// A dict, after it was counted that it was made.
    fn counted<'v>(
        #[starlark(require = pos)] value: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        charge_entries(eval, length_of(value).unwrap_or(0))?;
        Ok(value)
    }

    /// `value.name`, of a method that is called with its value only.
    fn attribute_within_bounds<'v>(
        #[starlark(require = pos)] value: Value<'v>,
        #[starlark(require = pos)] name: &str,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        attribute(value, name, heap)?.ok_or_else(|| broken(format!("a {} has no `{name}`", value.get_type())))
    }

    fn replace_within_bounds<'v>(
        #[starlark(require = pos)] text: Value<'v>,
        #[starlark(args)] placed: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let texts: Vec<&str> = placed.items.iter().take(2).filter_map(|value| value.unpack_str()).collect();
        if let (Some(text), [old, new]) = (text.unpack_str(), &texts[..]) {
            charge_copied(eval, text.len())?;
            let found = if old.is_empty() { text.chars().count() + 1 } else { text.matches(*old).count() };
            let most =
                placed.items.get(2).and_then(|most| most.unpack_i32()).and_then(|most| usize::try_from(most).ok());
            let times = found.min(most.unwrap_or(usize::MAX));
            let length = text.len() + times.saturating_mul(new.len().saturating_sub(old.len()));
            fits("`replace`", length)?;
            charge_copied(eval, length)?;
        }
        call_method(text, "replace", &placed.items, &named, eval)
    }

    fn join_within_bounds<'v>(
        #[starlark(require = pos)] text: Value<'v>,
        #[starlark(args)] placed: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        if let (Some(between), [parts]) = (text.unpack_str(), &placed.items[..]) {
            let mut length = 0_usize;
            for (i, part) in parts.iterate(eval.heap())?.enumerate() {
                length += part.unpack_str().map_or(1, str::len) + if i > 0 { between.len() } else { 0 };
                fits("`join`", length)?;
            }
            charge_copied(eval, length)?;
        }
        call_method(text, "join", &placed.items, &named, eval)
    }

    fn extend_within_bounds<'v>(
        #[starlark(require = pos)] list: Value<'v>,
        #[starlark(args)] placed: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        if let (Some(length), [more]) = (ListRef::from_value(list).map(|list| list.len()), &placed.items[..]) {
            let more = length_of(*more).unwrap_or(0);
            fits("`extend`", length + more)?;
            charge_length(eval, more)?;
        }
        call_method(list, "extend", &placed.items, &named, eval)
    }

    /// `list.index(value, start, end)` finds dicts of the world, too. The method of a text as it is.
    fn index_within_bounds<'v>(
        #[starlark(require = pos)] sequence: Value<'v>,
        #[starlark(args)] placed: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        index(sequence, &placed.items, &named, eval)
    }

    /// `list.remove(value)` finds dicts of the world, too. The method of a set as it is.
    fn remove_within_bounds<'v>(
        #[starlark(require = pos)] collection: Value<'v>,
        #[starlark(args)] placed: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        remove(collection, &placed.items, &named, eval)
    }

    /// `a * b`, unless it repeats something to a length that no tool needs.
    fn multiply_within_bounds<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        for (repeated, times) in [(a, b), (b, a)] {
            if let (Some(length), Some(times)) = (length_of(repeated), times.unpack_i32()) {
                let length = length.saturating_mul(usize::try_from(times).unwrap_or_default());
                fits("`*`", length)?;
                let is_text = repeated.unpack_str().is_some();
                if is_text { charge_copied(eval, length)? } else { charge_length(eval, length)? }
            }
        }
        number_within_bounds(a.mul(b, eval.heap())?)
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
                charge_length(eval, text.len())?;
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
            charge_length(eval, text.len())?;
            return Ok(heap.alloc_str(&text).to_value());
        }
        call_method(text, "format", &placed.items, &named, eval)
    }

    /// `a | b`
    fn unite_dicts<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        if a.get_type() == "dict" && b.get_type() != "dict" {
            return Err(broken(format!("`|` joins two dicts, and its right side is of type {}", b.get_type())));
        }
        charge_entries(eval, length_of(a).unwrap_or(0) + length_of(b).unwrap_or(0))?;
        let heap = eval.heap();
        a.bit_or(reference::plain(b, heap)?, heap)
    }

    /// `a |= b`: a dict takes the entries of another.
    fn unite_into<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let heap = eval.heap();
        charge_entries(eval, length_of(b).unwrap_or(0))?;
        if a.get_type() != "dict" {
            weigh(a, eval)?;
            return a.bit_or(b, heap);
        }
        if b.get_type() != "dict" {
            return Err(broken(format!("`|=` joins two dicts, and its right side is of type {}", b.get_type())));
        }
        let update = a.get_attr("update", heap)?.ok_or_else(|| broken("a dict has no `update`".to_owned()))?;
        let b = reference::plain(b, heap)?;
        eval.eval_function(update, &[b], &[])?;
        Ok(a)
    }

    fn plain_dict<'v>(
        #[starlark(require = pos)] value: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        charge_entries(eval, length_of(value).unwrap_or(0))?;
        all_reachable(value)?;
        reference::plain(value, eval.heap())
    }

    fn are_equal<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<bool> {
        equal(a, b, eval)
    }

    fn are_unequal<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<bool> {
        equal(a, b, eval).map(|equal| !equal)
    }

    fn is_within<'v>(
        #[starlark(require = pos)] value: Value<'v>,
        #[starlark(require = pos)] container: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<bool> {
        contains(container, value, eval)
    }

    fn is_not_within<'v>(
        #[starlark(require = pos)] value: Value<'v>,
        #[starlark(require = pos)] container: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<bool> {
        contains(container, value, eval).map(|within| !within)
    }
}

/// How far `<<` may shift: to a number of a hundred digits at most.
fn distance(value: Value<'_>) -> starlark::Result<Value<'_>> {
    const FARTHEST: i32 = 1_000;
    let is_far = value.get_type() == "int" && value.unpack_i32().is_none_or(|by| by > FARTHEST);
    if is_far { Err(broken(format!("`<<` shifts by {FARTHEST} at most"))) } else { Ok(value) }
}

/// A method of an author's struct, or any other attribute. `None`: there is none.
///
/// # Errors
/// It is one of Starlark's methods, whose value would no longer be looked at when it is called.
pub fn attribute<'v>(value: Value<'v>, name: &str, heap: Heap<'v>) -> starlark::Result<Option<Value<'v>>> {
    // A record may have a field that is called like a method of texts, such as `title`.
    if let Some(field) = reference::field(value, name, heap) {
        return Ok(Some(field));
    }
    if matches!(value.get_type(), "string" | "list" | "tuple" | "dict" | "set") {
        return Err(broken(format!("`{name}` of a {} must be called where it is named", value.get_type())));
    }
    value.get_attr(name, heap)
}

fn call_method<'v>(
    value: Value<'v>,
    name: &str,
    placed: &[Value<'v>],
    named: &SmallMap<String, Value<'v>>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> starlark::Result<Value<'v>> {
    let method = value.get_attr(name, eval.heap())?;
    let method = method.ok_or_else(|| broken(format!("a {} has no `{name}`", value.get_type())))?;
    let named: Vec<(&str, Value<'v>)> = named.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    eval.eval_function(method, placed, &named)
}

fn index<'v>(
    sequence: Value<'v>,
    placed: &[Value<'v>],
    named: &SmallMap<String, Value<'v>>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> starlark::Result<Value<'v>> {
    if let (Some(list), [value, bounds @ ..]) = (ListRef::from_value(sequence), placed)
        && named.is_empty()
        && let Some(range) = range_of(bounds, list.len())
    {
        let start = range.start;
        let found = position(list.content().get(range).unwrap_or_default(), *value, eval)?;
        let heap = eval.heap();
        let found = found.ok_or_else(|| not_found(*value, "", sequence, heap))?;
        return Ok(heap.alloc(start + found));
    }
    search(sequence, "index", placed, named, eval)
}

fn remove<'v>(
    collection: Value<'v>,
    placed: &[Value<'v>],
    named: &SmallMap<String, Value<'v>>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> starlark::Result<Value<'v>> {
    if let (Some(list), [value]) = (ListRef::from_value(collection), placed)
        && named.is_empty()
    {
        // What follows it moves.
        weigh(collection, eval)?;
        let found = position(list.content(), *value, eval)?;
        let heap = eval.heap();
        let found = found.ok_or_else(|| not_found(*value, "list ", collection, heap))?;
        call_method(collection, "pop", &[heap.alloc(found)], &SmallMap::new(), eval)?;
        return Ok(Value::new_none());
    }
    search(collection, "remove", placed, named, eval)
}

/// Calls a method that goes through its value and looks for its first argument.
fn search<'v>(
    value: Value<'v>,
    name: &str,
    placed: &[Value<'v>],
    named: &SmallMap<String, Value<'v>>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> starlark::Result<Value<'v>> {
    weigh(value, eval)?;
    placed.first().map_or(Ok(()), |sought| reachable(*sought))?;
    call_method(value, name, placed, named, eval)
}

/// What `start` and `end` of `index` leave of a list. `None` if they are no integers, or more than two.
fn range_of(bounds: &[Value<'_>], length: usize) -> Option<Range<usize>> {
    let place = |bound: Option<&Value<'_>>, usual: usize| match bound.filter(|bound| !bound.is_none()) {
        None => Some(usual),
        Some(bound) => {
            let bound = bound.unpack_i32()?;
            let distance = usize::try_from(bound.unsigned_abs()).unwrap_or(usize::MAX);
            Some(if bound < 0 { length.saturating_sub(distance) } else { distance.min(length) })
        }
    };
    if bounds.len() > 2 {
        return None;
    }
    Some(place(bounds.first(), 0)?..place(bounds.get(1), length)?)
}

fn position<'v>(
    items: &[Value<'v>],
    value: Value<'v>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> starlark::Result<Option<usize>> {
    let (position, compared) = reference::position(items, value, eval.heap())?;
    charge_length(eval, compared)?;
    Ok(position)
}

/// As Starlark says it, with dicts of the world written as others are.
fn not_found<'v>(value: Value<'v>, kind: &str, list: Value<'v>, heap: Heap<'v>) -> starlark::Error {
    let text = |value: Value<'v>| repr_of(value, heap).unwrap_or_else(|_| format!("a {}", value.get_type()));
    broken(format!("Element '{}' not found in {kind}'{}'", text(value), text(list)))
}

fn equal<'v>(a: Value<'v>, b: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<bool> {
    let (equal, compared) = reference::equal(a, b, eval.heap())?;
    // Mostly texts and numbers, which cost nothing worth counting.
    if compared > 0 {
        charge_length(eval, compared)?;
    }
    Ok(equal)
}

fn contains<'v>(container: Value<'v>, value: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<bool> {
    if matches!(container.get_type(), "dict" | "set") {
        reachable(value)?;
    }
    let (within, compared) = reference::contains(container, value, eval.heap())?;
    if compared > 0 {
        charge_length(eval, compared)?;
    }
    Ok(within)
}
