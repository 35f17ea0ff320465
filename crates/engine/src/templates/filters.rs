//! Filters and functions of templates, within bounds: what they are given is measured first, and so is what they would make.
//! All of it is counted for one rendering, so that none takes forever.

use std::cell::Cell;

use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, Value, filters, functions};

use crate::limits::{MOST_RENDERED_BYTES, MOST_RENDERING_WORK, MOST_TEMPLATE_VALUE_LEVELS};

/// The filter that gives back what it gets.
pub const WITHIN_BOUNDS: &str = "within_bounds";
/// The same for what becomes part of a namespace.
pub const WITHIN_ANOTHER: &str = "within_another";
/// Groups of `batch` and `slice`, and letters of a width or an indentation.
const WIDEST: usize = 1_000;
/// What a value takes beside the letters of a text, in bytes.
const VALUE_BYTES: usize = 8;

thread_local! {
    /// What is left of [`MOST_RENDERING_WORK`]. A template is rendered on one thread, from its beginning to its end.
    static LEFT: Cell<usize> = const { Cell::new(MOST_RENDERING_WORK) };
}

/// Before a rendering.
pub fn begin() {
    LEFT.set(MOST_RENDERING_WORK);
}

/// Counts bytes that were gone through or written.
pub fn charge(bytes: usize) -> Result<(), Error> {
    let left = LEFT.get().checked_sub(bytes);
    LEFT.set(left.unwrap_or(0));
    left.map(drop)
        .ok_or_else(|| too_much(format!("filters and operators go through more than {MOST_RENDERING_WORK} bytes")))
}

pub fn too_much(message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

/// Each filter under its own name goes through [`bounded`], and then to minijinja's, which has an underscore before it.
macro_rules! bounded {
    ($env:ident, $($name:literal => $filter:path),*) => {
        $(
            $env.add_filter(concat!("_", $name), $filter);
            $env.add_filter($name, |state: &mut State<'_, '_>, args: Rest<Value>, named: Kwargs| {
                bounded($name, concat!("_", $name), state, &all(args, named))
            });
        )*
    };
}

pub fn add_to(env: &mut Environment<'_>) {
    env.add_filter(WITHIN_BOUNDS, |value: Value| measure(&value).map(|_| value));
    env.add_filter(WITHIN_ANOTHER, |value: Value| {
        not_namespace(&value)?;
        measure(&value).map(|_| value)
    });
    bounded!(
        env,
        "lower" => filters::lower, "upper" => filters::upper, "title" => filters::title,
        "capitalize" => filters::capitalize, "replace" => filters::replace, "trim" => filters::trim,
        "join" => filters::join, "split" => filters::split, "lines" => filters::lines, "list" => filters::list,
        "string" => filters::string, "batch" => filters::batch, "slice" => filters::slice, "sum" => filters::sum,
        "indent" => filters::indent, "sort" => filters::sort, "unique" => filters::unique, "reverse" => filters::reverse,
        "dictsort" => filters::dictsort, "items" => filters::items, "groupby" => filters::groupby,
        "chain" => filters::chain, "zip" => filters::zip, "pprint" => filters::pprint, "format" => filters::format,
        "tojson" => filters::tojson
    );
    env.add_function("_dict", functions::dict);
    env.add_function("_namespace", functions::namespace);
    env.add_function("dict", |state: &mut State<'_, '_>, args: Rest<Value>, named: Kwargs| {
        called("_dict", state, &all(args, named))
    });
    env.add_function("namespace", |state: &mut State<'_, '_>, args: Rest<Value>, named: Kwargs| {
        called("_namespace", state, &all(args, named))
    });
    // It writes out everything that there is.
    env.remove_global("debug");
}

/// What is given by place, and then what is given by name.
fn all(args: Rest<Value>, named: Kwargs) -> Vec<Value> {
    let mut all = args.0;
    if named.args().next().is_some() {
        all.push(Value::from(named));
    }
    all
}

fn bounded(name: &str, own: &str, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let lengths = args.iter().map(measure).collect::<Result<Vec<usize>, Error>>()?;
    fits(name, made(name, args, &lengths))?;
    state.apply_filter(own, args)
}

fn called(own: &str, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    for arg in args {
        measure(arg)?;
    }
    let function = state.lookup(own).unwrap_or_default();
    function.call(state, args)
}

/// At most so many bytes does a filter make of values of these lengths.
fn made(name: &str, args: &[Value], lengths: &[usize]) -> usize {
    let length = |i: usize| lengths.get(i).copied().unwrap_or(0);
    let number = |i: usize| args.get(i).and_then(Value::as_usize).unwrap_or(0);
    match name {
        "replace" => {
            let text = |i: usize| args.get(i).map(|value: &Value| value.to_string()).unwrap_or_default();
            let (text, old, new) = (text(0), text(1), text(2));
            let times = if old.is_empty() { text.chars().count() + 1 } else { text.matches(&old).count() };
            text.len() + times.saturating_mul(new.len())
        }
        "join" => {
            let items = args.first().and_then(Value::len).unwrap_or_else(|| length(0));
            length(0).saturating_add(items.saturating_mul(length(1)))
        }
        "format" => length(0).saturating_add(widest(args)).saturating_add(lengths.iter().sum()),
        "batch" | "slice" if number(1) > WIDEST => usize::MAX,
        "tojson" | "indent" => {
            // The width may be named.
            let width = args.iter().skip(1).map(|arg| {
                let named = ["indent", "width"].iter().find_map(|name| arg.get_attr(name).ok()?.as_usize());
                named.or_else(|| arg.as_usize()).unwrap_or(0)
            });
            length(0).saturating_mul(width.max().unwrap_or(0) + 1)
        }
        _ => 0,
    }
}

/// The widths and precisions in a format, and of numbers that may be such.
fn widest(args: &[Value]) -> usize {
    let format = args.first().and_then(Value::as_str).unwrap_or_default();
    let written = format.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let written = written.map(|digits| digits.parse::<usize>().unwrap_or(usize::MAX));
    let given = args.iter().skip(1).filter(|_| format.contains('*')).filter_map(Value::as_usize);
    written.chain(given).filter(|width| *width > WIDEST).fold(0, usize::saturating_add)
}

fn fits(what: &str, bytes: usize) -> Result<(), Error> {
    if bytes <= MOST_RENDERED_BYTES {
        return charge(bytes);
    }
    Err(too_much(format!("`{what}` would make more than {MOST_RENDERED_BYTES} bytes")))
}

/// The bytes of a value as text, about.
///
/// # Errors
/// It is larger, or nests deeper, than any value of a template may be.
pub fn measure(value: &Value) -> Result<usize, Error> {
    let mut left = MOST_RENDERED_BYTES;
    let fits = go_through(value, MOST_TEMPLATE_VALUE_LEVELS, &mut left)?;
    if !fits {
        return Err(too_much(format!("a value is larger than {MOST_RENDERED_BYTES} bytes")));
    }
    let bytes = MOST_RENDERED_BYTES - left;
    charge(bytes)?;
    Ok(bytes)
}

/// A namespace within a value might hold that value, which would then have no end.
fn not_namespace(value: &Value) -> Result<(), Error> {
    let is_namespace = value.as_object().is_some_and(|object| object.type_name().ends_with("::Namespace"));
    if is_namespace { Err(too_much("a namespace cannot be part of another value".to_owned())) } else { Ok(()) }
}

/// Whether there is room for a value.
fn go_through(value: &Value, levels: usize, left: &mut usize) -> Result<bool, Error> {
    let own = value.as_str().map_or(VALUE_BYTES, str::len);
    let Some(fewer) = left.checked_sub(own) else { return Ok(false) };
    *left = fewer;
    let kind = value.kind();
    if kind == ValueKind::Invalid {
        return Err(too_much(value.to_string()));
    }
    if !matches!(kind, ValueKind::Seq | ValueKind::Iterable | ValueKind::Map) {
        return Ok(true);
    }
    if levels < MOST_TEMPLATE_VALUE_LEVELS {
        not_namespace(value)?;
    }
    if levels == 0 {
        return Err(too_much(format!("a value nests deeper than {MOST_TEMPLATE_VALUE_LEVELS} levels")));
    }
    for item in value.try_iter()? {
        if !go_through(&item, levels - 1, left)? {
            return Ok(false);
        }
        if kind == ValueKind::Map && !go_through(&value.get_item(&item)?, levels - 1, left)? {
            return Ok(false);
        }
    }
    Ok(true)
}
