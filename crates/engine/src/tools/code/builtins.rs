//! What Groundstate adds to Starlark for tool authors.

#![expect(clippy::unnecessary_wraps, reason = "the macro asks for fallible functions")]
#![expect(unsafe_code, reason = "the derive implements a marker trait of the starlark crate")]

use std::cell::Cell;

use chrono::{NaiveDate, TimeDelta};
use starlark::ErrorKind;
use starlark::any::ProvidesStaticType;
use starlark::collections::SmallMap;
use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::starlark_module;
use starlark::values::dict::AllocDict;
use starlark::values::float::UnpackFloat;
use starlark::values::list::AllocList;
use starlark::values::{Heap, Value};

/// What `*` is compiled to.
pub const MULTIPLY: &str = "multiply_within_bounds";
/// Longest list or text, in items or bytes, that one step may make.
const LONGEST: usize = 1_000_000;

/// The call's surroundings, reachable from the functions below.
#[derive(Debug, ProvidesStaticType)]
pub struct Surroundings<'a> {
    pub id_seed: &'a str,
    pub ids: Cell<u32>,
}

#[starlark_module]
pub fn functions(builder: &mut GlobalsBuilder) {
    /// A new id such as `dsp_5f2a91c3`. The same calls in the same conversation give the same ids.
    fn fresh_id(prefix: &str, eval: &mut Evaluator) -> anyhow::Result<String> {
        let Some(surroundings) = eval.extra.and_then(|e| e.downcast_ref::<Surroundings>()) else {
            anyhow::bail!("fresh_id can only be called in a tool");
        };
        let n = surroundings.ids.get();
        surroundings.ids.set(n + 1);
        Ok(super::fresh_id(surroundings.id_seed, prefix, n))
    }

    /// The integers from `start` to before `stop`. A list, so that its length is known.
    fn range<'v>(
        #[starlark(require = pos)] first: i32,
        #[starlark(require = pos)] second: Option<i32>,
        #[starlark(require = pos)] step: Option<i32>,
        heap: Heap<'v>,
    ) -> anyhow::Result<Value<'v>> {
        let (start, stop) = second.map_or((0, first), |stop| (first, stop));
        let (start, stop, step) = (i64::from(start), i64::from(stop), i64::from(step.unwrap_or(1)));
        anyhow::ensure!(step != 0, "the step of a range must not be 0");
        let length = usize::try_from((stop - start + step - step.signum()) / step).unwrap_or_default();
        anyhow::ensure!(length <= LONGEST, "the range has {length} numbers; {LONGEST} is the limit");
        let numbers = (0..).take(length).map(|i: i64| start + i * step);
        Ok(heap.alloc(AllocList(numbers)))
    }

    /// Starlark's `dict`, which also copies what acts as a dict: the world and its collections.
    fn dict<'v>(
        #[starlark(require = pos)] entries: Option<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        let mut made: SmallMap<Value<'v>, Value<'v>> = SmallMap::new();
        match entries {
            None => {}
            Some(dict) if dict.get_type() == "dict" => {
                for (key, value) in super::reference::pairs(dict, heap)? {
                    made.insert_hashed(key.get_hashed()?, value);
                }
            }
            Some(pairs) => {
                for pair in pairs.iterate(heap)? {
                    let pair: Vec<Value<'v>> = pair.iterate(heap)?.collect();
                    let [key, value] = pair[..] else {
                        let reason = "`dict` takes pairs of a key and a value";
                        return Err(starlark::Error::new_other(std::io::Error::other(reason)));
                    };
                    made.insert_hashed(key.get_hashed()?, value);
                }
            }
        }
        for (name, value) in named {
            made.insert_hashed(heap.alloc_str(&name).to_value().get_hashed()?, value);
        }
        Ok(heap.alloc(AllocDict(made)))
    }

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
                    let reason = format!("`*` would make {length} items or bytes; {LONGEST} is the limit");
                    return Err(starlark::Error::new_other(std::io::Error::other(reason)));
                }
            }
        }
        a.mul(b, heap)
    }

    /// Rounds half away from zero to so many decimals, as money is rounded.
    fn round(x: UnpackFloat, #[starlark(default = 0)] digits: i32) -> anyhow::Result<f64> {
        Ok(rounded(x.0, digits))
    }

    /// Rounds to so many decimals as IEEE 754 and most languages do: the stored value decides, and an exact half goes to
    /// the even neighbour. 2.675 is stored a little below itself, so it gives 2.67; 0.125 gives 0.12.
    fn round_half_even(x: UnpackFloat, #[starlark(default = 0)] digits: usize) -> anyhow::Result<f64> {
        Ok(format!("{:.*}", digits.min(12), x.0).parse()?)
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

    /// Whole days from one ISO date to another; a time of day does not count. A text that is no date fails the call:
    /// mostly it is the agent who wrote it.
    fn days_between(start: &str, end: &str) -> starlark::Result<i32> {
        let days = (date(end)? - date(start)?).num_days();
        i32::try_from(days).map_err(starlark::Error::new_other)
    }

    /// The date so many days after an ISO date, or before it.
    fn add_days(start: &str, days: i32) -> starlark::Result<String> {
        let shifted = date(start)?.checked_add_signed(TimeDelta::days(days.into()));
        shifted.map(|day| day.to_string()).ok_or_else(|| refused(format!("{days} days from {start} is no date")))
    }

    /// The day of the week of an ISO date: `Monday` to `Sunday`.
    fn weekday(day: &str) -> starlark::Result<String> {
        Ok(date(day)?.format("%A").to_string())
    }
}

fn rounded(x: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits.clamp(0, 12));
    let scaled = x * scale;
    if !scaled.is_finite() {
        // So large that it has no decimals.
        return x;
    }
    // 1.005 is stored a little below itself; the nudge keeps decimal halves halves.
    let nudge = f64::EPSILON * 4.0 * scaled.abs();
    (scaled.abs() + nudge).round().copysign(scaled) / scale
}

fn decimals(x: f64, digits: i32) -> String {
    let places = usize::try_from(digits.clamp(0, 12)).unwrap_or_default();
    format!("{:.places$}", rounded(x, digits))
}

fn date(text: &str) -> starlark::Result<NaiveDate> {
    let day = text.get(..10).unwrap_or(text);
    day.parse().map_err(|_| refused(format!("`{text}` is not an ISO date such as 2026-03-02")))
}

/// An error that is an answer, as `fail` makes it.
fn refused(reason: String) -> starlark::Error {
    starlark::Error::new_kind(ErrorKind::Fail(anyhow::Error::msg(reason)))
}
