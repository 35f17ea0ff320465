//! What Groundstate adds to Starlark for tool authors.

#![expect(clippy::unnecessary_wraps, reason = "the macro asks for fallible functions")]

use std::cmp::Ordering;
use std::sync::LazyLock;

use starlark::ErrorKind;
use starlark::collections::SmallMap;
use starlark::environment::{Globals, GlobalsBuilder, LibraryExtension};
use starlark::eval::Evaluator;
use starlark::starlark_module;
use starlark::values::dict::AllocDict;
use starlark::values::float::UnpackFloat;
use starlark::values::list::AllocList;
use starlark::values::none::NoneType;
use starlark::values::structs::AllocStruct;
use starlark::values::tuple::UnpackTuple;
use starlark::values::{FrozenValue, Heap, Value};

use super::broken;
use super::call_environment::{CallEnvironment, charge_entries, charge_length, fits};
use super::measure::{all_reachable, length_of, number_within_bounds, reachable, weigh};
use super::operators::attribute;
use super::text::{Text, repr_of, str_of};
use crate::limits::{MOST_DIGITS, MOST_ITEMS};

#[starlark_module]
pub fn functions(builder: &mut GlobalsBuilder) {
    /// A new id such as `dsp_5f2a91c3`. The same calls in the same conversation give the same ids.
    fn fresh_id(prefix: &str, eval: &mut Evaluator) -> anyhow::Result<String> {
        let surroundings = eval.extra.and_then(|extra| extra.downcast_ref::<CallEnvironment>());
        let id = surroundings.and_then(|surroundings| surroundings.fresh_id(prefix));
        id.ok_or_else(|| anyhow::anyhow!("fresh_id can only be called in a tool"))
    }

    /// Starlark's `str`, with numbers as Python writes them.
    fn str<'v>(
        #[starlark(require = pos)] value: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        if value.unpack_str().is_some() {
            return Ok(value);
        }
        let text = str_of(value, eval.heap()).map_err(broken)?;
        charge_length(eval, text.len())?;
        Ok(eval.heap().alloc_str(&text).to_value())
    }

    /// Starlark's `repr`, with numbers as Python writes them.
    fn repr<'v>(
        #[starlark(require = pos)] value: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let text = repr_of(value, eval.heap()).map_err(broken)?;
        charge_length(eval, text.len())?;
        Ok(eval.heap().alloc_str(&text).to_value())
    }

    /// Undoes the call; the agent reads the values, with spaces between.
    fn fail<'v>(
        #[starlark(args)] values: UnpackTuple<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<NoneType> {
        Err(refused(joined(&values.items, " ", eval.heap()).map_err(broken)?))
    }

    /// Shows the values to the author who tries the tool, and to nobody else.
    fn print<'v>(
        #[starlark(args)] values: UnpackTuple<Value<'v>>,
        #[starlark(default = " ")] sep: &str,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<NoneType> {
        let line = joined(&values.items, sep, eval.heap()).map_err(broken)?;
        charge_length(eval, line.len())?;
        if let Some(surroundings) = eval.extra.and_then(|extra| extra.downcast_ref::<CallEnvironment>()) {
            surroundings.print(line);
        }
        Ok(NoneType)
    }

    /// The sum of numbers.
    fn sum<'v>(
        #[starlark(require = pos)] numbers: Value<'v>,
        start: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let heap = eval.heap();
        let mut total = start.unwrap_or_else(|| heap.alloc(0));
        let mut items = 0;
        for number in numbers.iterate(heap)? {
            if !matches!(number.get_type(), "int" | "float") {
                return Err(broken(format!("`sum` adds numbers, not values of type {}", number.get_type())));
            }
            total = total.add(number, heap)?;
            items += 1;
        }
        super::call_environment::charge(eval, items)?;
        number_within_bounds(total)
    }

    /// The integers from `start` to before `stop`. A list, so that its length is known.
    fn range<'v>(
        #[starlark(require = pos)] first: i32,
        #[starlark(require = pos)] second: Option<i32>,
        #[starlark(require = pos)] step: Option<i32>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let (start, stop) = second.map_or((0, first), |stop| (first, stop));
        let (start, stop, step) = (i64::from(start), i64::from(stop), i64::from(step.unwrap_or(1)));
        if step == 0 {
            return Err(broken("the step of a range must not be 0".to_owned()));
        }
        let length = usize::try_from((stop - start + step - step.signum()) / step).unwrap_or_default();
        if length > MOST_ITEMS {
            return Err(broken(format!("the range has {length} numbers; {MOST_ITEMS} is the limit")));
        }
        charge_length(eval, length)?;
        let numbers = (0..).take(length).map(|i: i64| start + i * step);
        Ok(eval.heap().alloc(AllocList(numbers)))
    }

    /// Starlark's `dict`, which also copies what acts as a dict: the world and its collections.
    fn dict<'v>(
        #[starlark(require = pos)] entries: Option<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        charge_entries(eval, entries.and_then(length_of).unwrap_or(0) + named.len())?;
        entries.map_or(Ok(()), all_reachable)?;
        let heap = eval.heap();
        let mut made: SmallMap<Value<'v>, Value<'v>> = SmallMap::new();
        for (key, value) in entries.map_or_else(|| Ok(Vec::new()), |entries| super::reference::pairs(entries, heap))? {
            made.insert_hashed(key.get_hashed()?, value);
        }
        for (name, value) in named {
            made.insert_hashed(heap.alloc_str(&name).to_value().get_hashed()?, value);
        }
        Ok(heap.alloc(AllocDict(made)))
    }

    /// Starlark's `struct`.
    fn r#struct<'v>(
        #[starlark(kwargs)] fields: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        charge_entries(eval, fields.len())?;
        Ok(eval.heap().alloc(AllocStruct(fields)))
    }

    /// Starlark's `getattr`.
    fn getattr<'v>(
        #[starlark(require = pos)] value: Value<'v>,
        #[starlark(require = pos)] name: &str,
        #[starlark(require = pos)] default: Option<Value<'v>>,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        let found = attribute(value, name, heap)?.or(default);
        found.ok_or_else(|| broken(format!("a {} has no attribute `{name}`", value.get_type())))
    }

    /// Starlark's `int`.
    fn int<'v>(
        #[starlark(args)] placed: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        // To read a number costs the square of its digits.
        if placed.items.iter().any(|value| value.unpack_str().is_some_and(|text| text.len() > MOST_DIGITS + 2)) {
            return Err(broken(format!("`int` reads numbers of at most {MOST_DIGITS} digits")));
        }
        number_within_bounds(original("int", &placed.items, &named, eval)?)
    }

    fn list<'v>(
        #[starlark(args)] placed: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        original("list", &placed.items, &named, eval)
    }

    fn tuple<'v>(
        #[starlark(args)] placed: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        original("tuple", &placed.items, &named, eval)
    }

    fn set<'v>(
        #[starlark(args)] placed: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        charge_entries(eval, placed.items.first().copied().and_then(length_of).unwrap_or(0))?;
        placed.items.iter().try_for_each(|items| all_reachable(*items))?;
        original("set", &placed.items, &named, eval)
    }

    fn sorted<'v>(
        #[starlark(args)] placed: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        ordered("sorted", &placed.items, &named, eval)
    }

    fn reversed<'v>(
        #[starlark(args)] placed: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        original("reversed", &placed.items, &named, eval)
    }

    fn enumerate<'v>(
        #[starlark(args)] placed: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        original("enumerate", &placed.items, &named, eval)
    }

    fn zip<'v>(
        #[starlark(args)] placed: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        fits("`zip`", placed.items.iter().filter_map(|value| length_of(*value)).sum())?;
        original("zip", &placed.items, &named, eval)
    }

    fn min<'v>(
        #[starlark(args)] placed: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        ordered("min", &placed.items, &named, eval)
    }

    fn max<'v>(
        #[starlark(args)] placed: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        ordered("max", &placed.items, &named, eval)
    }

    fn any<'v>(
        #[starlark(args)] placed: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        original("any", &placed.items, &named, eval)
    }

    fn all<'v>(
        #[starlark(args)] placed: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        original("all", &placed.items, &named, eval)
    }

    /// Rounds half away from zero to so many decimals, as money is rounded; -2 decimals are whole hundreds.
    fn round(x: UnpackFloat, #[starlark(default = 0)] digits: i32) -> anyhow::Result<f64> {
        Ok(rounded(x.0, digits))
    }

    /// Rounds to so many decimals as IEEE 754 and most languages do: the stored value decides, and an exact half goes to
    /// the even neighbour. 2.675 is stored a little below itself, so it gives 2.67; 0.125 gives 0.12.
    fn round_half_even(x: UnpackFloat, #[starlark(default = 0)] digits: i32) -> anyhow::Result<f64> {
        let Ok(places) = usize::try_from(digits) else {
            let unit = unit(digits);
            return Ok((x.0 / unit).round_ties_even() * unit);
        };
        Ok(format!("{:.*}", places.min(MOST_DECIMALS), x.0).parse()?)
    }

    /// The value of an expression of numbers, `+ - * / // **`, parentheses and spaces. An expression that is wrong
    /// fails the call as `fail` does, for it is the agent who wrote it.
    fn arithmetic(expression: &str) -> starlark::Result<f64> {
        super::arithmetic::arithmetic(expression).map_err(|e| refused(e.to_string()))
    }

    /// A number as text with two decimals, rounded as `round` does: 12.5 is `12.50`.
    fn money(x: UnpackFloat) -> anyhow::Result<String> {
        Ok(decimals(x.0, 2))
    }

    /// Whether a text states a fact, whatever the letter case, punctuation and form of numbers: `1,160.00` states `1160`.
    fn tells(text: &str, fact: &str) -> anyhow::Result<bool> {
        Ok(crate::facts::states(text, fact))
    }

    /// A number as text with so many decimals, rounded as `round` does.
    fn format_number(x: UnpackFloat, digits: i32) -> anyhow::Result<String> {
        Ok(decimals(x.0, digits))
    }
}

/// Calls one of Starlark's own functions that compare, after it was found that all can be compared.
fn ordered<'v>(
    name: &str,
    placed: &[Value<'v>],
    named: &SmallMap<String, Value<'v>>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> starlark::Result<Value<'v>> {
    let items: Vec<Value<'v>> = match placed {
        [all] => all.iterate(eval.heap())?.collect(),
        several => several.to_vec(),
    };
    let key = named.get("key").filter(|key| !key.is_none());
    let Some(key) = key.copied() else {
        items.iter().try_for_each(|item| reachable(*item))?;
        return original(name, placed, named, eval);
    };
    let is_reversed = named.get("reverse").is_some_and(|reverse| reverse.to_bool());
    charge_length(eval, items.len())?;
    let mut keyed = Vec::with_capacity(items.len());
    for item in items {
        let key = eval.eval_function(key, &[item], &[])?;
        reachable(key)?;
        keyed.push((key, item));
    }
    let mut failed = None;
    let mut order = |a: &(Value<'v>, Value<'v>), b: &(Value<'v>, Value<'v>)| {
        a.0.compare(b.0).unwrap_or_else(|e| {
            failed = Some(e);
            Ordering::Equal
        })
    };
    let found = match name {
        "min" => keyed.into_iter().reduce(|least, next| if order(&next, &least).is_lt() { next } else { least }),
        "max" => keyed.into_iter().reduce(|most, next| if order(&next, &most).is_gt() { next } else { most }),
        _ => {
            keyed.sort_by(|a, b| if is_reversed { order(b, a) } else { order(a, b) });
            let sorted = AllocList(keyed.iter().map(|(_, item)| *item));
            Some((Value::new_none(), eval.heap().alloc(sorted)))
        }
    };
    match (failed, found) {
        (Some(failed), _) => Err(failed),
        (None, Some((_, found))) => Ok(found),
        (None, None) => Err(broken(format!("`{name}` finds nothing in an empty list"))),
    }
}

/// Calls one of Starlark's own functions, after it was counted that it goes through what it is given.
fn original<'v>(
    name: &str,
    placed: &[Value<'v>],
    named: &SmallMap<String, Value<'v>>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> starlark::Result<Value<'v>> {
    for value in placed {
        weigh(*value, eval)?;
    }
    let function = ORIGINALS.iter().find(|(own, _)| *own == name).map(|(_, function)| function.to_value());
    let function = function.ok_or_else(|| broken(format!("there is no `{name}`")))?;
    let named: Vec<(&str, Value<'v>)> = named.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    eval.eval_function(function, placed, &named)
}

/// Starlark's own functions that ours stand before.
static ORIGINALS: LazyLock<Vec<(&'static str, FrozenValue)>> = LazyLock::new(|| {
    const NAMES: [&str; 12] =
        ["all", "any", "enumerate", "int", "list", "max", "min", "reversed", "set", "sorted", "tuple", "zip"];
    static STANDARD: LazyLock<Globals> = LazyLock::new(|| Globals::extended_by(&[LibraryExtension::SetType]));
    STANDARD.iter().filter(|(name, _)| NAMES.contains(name)).collect()
});

/// The most decimals that numbers are rounded to.
const MOST_DECIMALS: usize = 12;

/// 2^52: from here on, floats are integers.
const WITHOUT_HALVES: f64 = 4_503_599_627_370_496.0;

/// What numbers are multiples of after they were rounded to a negative number of decimals: 100.0 for -2. Larger powers of
/// ten than the last are no exact floats, and no numbers that tools know.
fn unit(digits: i32) -> f64 {
    10f64.powi(digits.saturating_neg().clamp(0, 22))
}

/// Half away from zero, and never to a negative zero, which would read `-0.0`.
fn rounded(x: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits.clamp(0, 12));
    let unit = unit(digits);
    let scaled = x * scale / unit;
    if !scaled.is_finite() || (digits > 0 && scaled.abs() >= WITHOUT_HALVES) {
        // So large that it has no such decimals.
        return x;
    }
    // 1.005 is stored a little below itself; the nudge keeps decimal halves halves, and makes none of smaller parts.
    let nudge = (f64::EPSILON * 4.0 * scaled.abs()).min(1e-3);
    (scaled.abs() + nudge).round().copysign(scaled) / scale * unit + 0.0
}

fn decimals(x: f64, digits: i32) -> String {
    let places = usize::try_from(digits).unwrap_or_default().min(MOST_DECIMALS);
    format!("{:.places$}", rounded(x, digits))
}

fn joined<'v>(values: &[Value<'v>], between: &str, heap: Heap<'v>) -> Result<String, String> {
    let mut text = Text::new(heap);
    for (i, value) in values.iter().enumerate() {
        text.push(if i > 0 { between } else { "" })?;
        text.str(*value)?;
    }
    Ok(text.into_string())
}

/// An error that is an answer, as `fail` makes it.
fn refused(reason: String) -> starlark::Error {
    starlark::Error::new_kind(ErrorKind::Fail(anyhow::Error::msg(reason)))
}
