//! What Groundstate adds to Starlark for tool authors.

#![expect(clippy::unnecessary_wraps, reason = "the macro asks for fallible functions")]
#![expect(unsafe_code, reason = "the derive implements a marker trait of the starlark crate")]

use std::cell::Cell;

use chrono::NaiveDate;
use starlark::ErrorKind;
use starlark::any::ProvidesStaticType;
use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::starlark_module;
use starlark::values::float::UnpackFloat;

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

    /// Rounds half away from zero to so many decimals, as money is rounded.
    fn round(x: UnpackFloat, #[starlark(default = 0)] digits: i32) -> anyhow::Result<f64> {
        let scale = 10f64.powi(digits.clamp(0, 12));
        let scaled = x.0 * scale;
        // 1.005 is stored a little below itself; the nudge keeps decimal halves halves.
        let nudge = f64::EPSILON * 4.0 * scaled.abs();
        Ok((scaled.abs() + nudge).round().copysign(scaled) / scale)
    }

    /// Rounds to so many decimals as IEEE 754 and most languages do: the stored value decides, and an exact half goes to
    /// the even neighbour. 2.675 is stored a little below itself, so it gives 2.67; 0.125 gives 0.12.
    fn round_half_even(x: UnpackFloat, #[starlark(default = 0)] digits: usize) -> anyhow::Result<f64> {
        Ok(format!("{:.*}", digits.min(12), x.0).parse()?)
    }

    /// The value of an expression of numbers, `+ - * / // **`, parentheses and spaces. An expression that is wrong
    /// fails the call as `fail` does, for it is the agent who wrote it.
    fn arithmetic(expression: &str) -> starlark::Result<f64> {
        super::arithmetic::arithmetic(expression).map_err(|e| starlark::Error::new_kind(ErrorKind::Fail(e.into())))
    }

    /// A number as text with two decimals: 12.5 is `12.50`.
    fn money(x: UnpackFloat) -> anyhow::Result<String> {
        Ok(format!("{:.2}", x.0))
    }

    /// Whole days from one ISO date to another; a time of day does not count.
    fn days_between(start: &str, end: &str) -> anyhow::Result<i32> {
        Ok(i32::try_from((date(end)? - date(start)?).num_days())?)
    }
}

fn date(text: &str) -> anyhow::Result<NaiveDate> {
    let day = text.get(..10).unwrap_or(text);
    day.parse().map_err(|_| anyhow::anyhow!("`{text}` is not an ISO date such as 2026-03-02"))
}
