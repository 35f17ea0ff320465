//! Jinja templates: strict, bounded, never read from disk.

use chrono::{DateTime, SecondsFormat, Utc};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::ValueKind;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Template, UndefinedBehavior, Value};
use serde_json::{Number, Value as Json};

mod filters;
mod source;

pub use source::{Callee, CalleeKind};

use crate::limits::{MOST_FUEL, MOST_RENDERED_BYTES, MOST_RENDERING_LEVELS};
use crate::tools::code::numbers;

/// A bare environment: an undefined name is an error, not an empty text.
pub fn environment() -> Environment<'static> {
    let mut env = Environment::new();
    // Otherwise only debug builds say what is undefined.
    env.set_debug(true);
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_fuel(Some(MOST_FUEL));
    env.set_recursion_limit(MOST_RENDERING_LEVELS);
    filters::add_to(&mut env);
    // Whatever a template's file is called, it writes what it says; authors of JSON use `tojson`.
    env.set_auto_escape_callback(|_| AutoEscape::None);
    env.set_formatter(|out, state, value| match f64::try_from(value.clone()) {
        // A number as tools and models write it.
        Ok(number) if value.kind() == ValueKind::Number && !value.is_integer() => {
            Ok(out.write_str(&numbers::repr(number))?)
        }
        _ => {
            match value.as_str() {
                Some(text) => filters::charge(text.len())?,
                None => drop(filters::measure(value)?),
            }
            minijinja::escape_formatter(out, state, value)
        }
    });
    if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
        env.set_syntax(syntax);
    }
    env
}

/// Adds a template, if it is one and no too large one.
///
/// # Errors
/// An [explanation](explain) with its place.
pub fn add(env: &mut Environment<'static>, name: &str, text: &str) -> Result<(), String> {
    let prepared = prepared(name, text)?;
    env.add_template_owned(name.to_owned(), prepared).map_err(|e| explain(&e))
}

fn prepared(name: &str, text: &str) -> Result<String, String> {
    source::prepared(text).map_err(|found| format!("{} (in {name}:{})", found.message, found.line))
}

/// The filters and tests that a source names and that do not exist. A rendering fails when it comes to one.
pub fn unknown_callees(env: &Environment<'_>, source: &str) -> Vec<Callee> {
    let mut state = env.empty_state();
    let mut unknown = source::callees(source);
    filters::begin();
    // Without arguments, what exists fails in another way.
    unknown.retain(|callee| {
        let called = match callee.kind {
            CalleeKind::Filter => state.apply_filter(&callee.name, &[]).map(drop),
            CalleeKind::Test => state.perform_test(&callee.name, &[]).map(drop),
        };
        called.is_err_and(|e| matches!(e.kind(), ErrorKind::UnknownFilter | ErrorKind::UnknownTest))
    });
    unknown
}

/// Renders a template of this environment.
pub fn render(env: &Environment<'_>, name: &str, context: &Json) -> Result<String, String> {
    let template = env.get_template(name).map_err(|e| explain(&e))?;
    written(&template, &value(context))
}

/// Renders a template that stands alone.
pub fn render_text(source: &str, context: &Json) -> Result<String, String> {
    render_alone(source, &value(context))
}

fn render_alone(source: &str, context: &Value) -> Result<String, String> {
    let (env, prepared) = (environment(), prepared("<string>", source)?);
    let template = env.template_from_named_str("<string>", &prepared).map_err(|e| explain(&e))?;
    written(&template, context)
}

/// What a template writes, and no more than it may.
fn written(template: &Template<'_, '_>, context: &Value) -> Result<String, String> {
    filters::begin();
    let mut out = BoundedBuffer { bytes: Vec::new(), is_full: false };
    match template.render_captured_to(context, &mut out) {
        _ if out.is_full => Err(format!("writes more than {MOST_RENDERED_BYTES} bytes (in {}:1)", template.name())),
        Ok(_) => String::from_utf8(out.bytes).map_err(|e| e.to_string()),
        Err(e) => Err(explain(&e)),
    }
}

struct BoundedBuffer {
    bytes: Vec<u8>,
    is_full: bool,
}

impl std::io::Write for BoundedBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.is_full = self.bytes.len() + bytes.len() > MOST_RENDERED_BYTES;
        if self.is_full {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// How a moment is written wherever a model or a tool reads it.
pub(crate) fn rfc3339(clock: DateTime<Utc>) -> String {
    clock.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Templates that stand alone and are rendered often, each under its own text as its name.
#[derive(Debug)]
pub struct ParsedTemplates(Environment<'static>);

impl ParsedTemplates {
    /// What does not parse is left out: whoever renders it hears why.
    pub fn of<'a>(sources: impl Iterator<Item = &'a str>) -> Self {
        let mut env = environment();
        for source in sources {
            drop(add(&mut env, source, source));
        }
        Self(env)
    }

    /// Like [`render_text`], errors included.
    pub fn render(&self, source: &str, context: &Value) -> Result<String, String> {
        let rendered = self.0.get_template(source).map_err(|e| explain(&e));
        let rendered = rendered.and_then(|template| written(&template, context));
        rendered.or_else(|_| render_alone(source, context))
    }
}

/// Numbers must be numbers: serialising them would show `serde_json`'s private form of arbitrary precision, which the
/// `starlark` crate turns on.
pub fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(b) => Value::from(*b),
        Json::Number(n) => number(n),
        Json::String(s) => Value::from(s.as_str()),
        Json::Array(items) => items.iter().map(value).collect(),
        Json::Object(map) => Value::from_pairs(map.iter().map(|(k, v)| (k.as_str(), value(v)))),
    }
}

/// A whole number stays what it is. One that has no place in a template is an error where it is used: as a float it would be another
/// number.
fn number(n: &Number) -> Value {
    if let Some(i) = n.as_i64() {
        return Value::from(i);
    }
    if let Some(i) = n.as_i128() {
        return Value::from(i);
    }
    let text = n.to_string();
    if text.contains(['.', 'e', 'E']) {
        return n.as_f64().map_or_else(|| Value::from(text), Value::from);
    }
    let message = "a whole number needs more than 128 bits, which is too large for a template";
    Value::from(Error::new(ErrorKind::InvalidOperation, message))
}

/// An error with template, line and its causes.
pub fn explain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

/// The template and the line that an [explained](explain) error is about: where it began, which other templates may have
/// passed on.
pub fn place(explained: &str) -> Option<(&str, usize)> {
    let (_, within) = explained.rsplit_once("(in ")?;
    let (name, line) = within.split_once(')')?.0.rsplit_once(':')?;
    Some((name, line.parse().ok()?))
}

/// The text as a Jinja template that renders it, whatever it holds.
pub fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '{' && matches!(rest.peek(), Some('{' | '%' | '#')) {
            out.push_str("{{ \"{\" }}");
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_tells_where_it_began() {
        let mut env = environment();
        for (name, text) in [("outer.md", "\n{% include 'inner.md' %}"), ("inner.md", "one\n\n{{ nobody }}")] {
            add(&mut env, name, text).expect("it parses");
        }
        let said = render(&env, "outer.md", &json!({})).expect_err("`nobody` is unknown");
        assert_eq!(place(&said), Some(("inner.md", 3)), "{said}");
        assert_eq!(place("no place (in which)"), None);
    }

    #[test]
    fn filters_and_tests_that_do_not_exist_are_known_before_a_rendering() {
        let unknown = |source: &str| {
            let unknown = unknown_callees(&environment(), source).into_iter();
            unknown.map(|callee| format!("{} {}", callee.kind, callee.name)).collect::<Vec<_>>()
        };
        let all =
            "{{ a|upper|none }}{% if a is nosuch or a is defined %}{% endif %}{% filter other(1) %}{% endfilter %}";
        assert_eq!(unknown(all), ["filter none", "test nosuch", "filter other"]);
        let given = "{{ a|map('none')|select('nosuch')|rejectattr('b', 'other') }}";
        assert_eq!(unknown(given), ["filter none", "test nosuch", "test other"]);
        let known = "{{ a|map('upper')|select('odd')|reject('==', 1)|selectattr('x', 'defined')|groupby('y') }}\
                     {{ a|select|tojson(indent=2)|default('|z') }}{{ a is not none }}{{ a is in b }}\
                     {{ a is divisibleby 3 }}{{ a is string or a is true }}{{ a ~ b }}";
        assert_eq!(unknown(known), [""; 0]);
    }

    #[test]
    fn what_explodes_is_stopped() {
        let hostile = [
            "{% for i in range(99999) %}{% for j in range(99999) %}x{% endfor %}{% endfor %}",
            "{% for i in range(999999999) %}x{% endfor %}",
            "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
            "{% include 'self' %}",
            "{% extends 'self' %}",
            "{{ unknown }}",
            "{{ view.unknown.deeper }}",
        ];
        for source in hostile {
            let mut env = environment();
            add(&mut env, "self", source).expect("it parses");
            assert!(render(&env, "self", &json!({"view": {}})).is_err(), "{source}");
        }
        let nested = format!("{{{{ {}1{} }}}}", "(".repeat(5000), ")".repeat(5000));
        assert!(render_text(&nested, &json!({})).is_err());
    }

    #[test]
    fn values_are_written_as_they_are_whatever_the_file_is_called() {
        let mut env = environment();
        add(&mut env, "a.json", r#"{"a": "{{ a }}", "b": {{ b | tojson }}}"#).expect("it parses");
        let said = render(&env, "a.json", &json!({"a": "<b>", "b": "\"q\""}));
        assert_eq!(said.as_deref(), Ok(r#"{"a": "<b>", "b": "\"q\""}"#));
    }

    #[test]
    fn numbers_are_written_as_tools_write_them() {
        let said = render_text(
            "{{ a }} {{ b }} {{ c }} {{ d }}",
            &json!({"a": 9_999_999.99, "b": 1e16, "c": 5, "d": 0.00001}),
        );
        assert_eq!(said.as_deref(), Ok("9999999.99 1e+16 5 1e-05"));
    }

    #[test]
    fn whole_numbers_are_written_whole_or_not_at_all() {
        const MOST: &str = "170141183460469231731687303715884105727";
        let read = |text: String| serde_json::from_str::<Json>(&text).expect("it is JSON");
        let large = read(format!(r#"{{"a": 18446744073709551617, "b": -{MOST}, "c": [36893488147419103233]}}"#));
        let said = render_text("{{ a }} {{ a + 1 }} {{ c }} {{ c | tojson }} {{ c[0] - a }} {{ b }}", &large);
        let expected = "18446744073709551617 18446744073709551618 [36893488147419103233] [36893488147419103233] \
                        18446744073709551616 -170141183460469231731687303715884105727";
        assert_eq!(said.as_deref(), Ok(expected));
        let too_large = read(format!(r#"{{"a": {MOST}0, "l": [1e2, {MOST}0]}}"#));
        assert_eq!(render_text("{{ l[0] }}", &too_large).as_deref(), Ok("100.0"), "what is not used is not looked at");
        for source in ["{{ a }}", "{{ l }}", "{{ l|tojson }}", "{{ l|last }}", "{% for i in l %}{{ i }}{% endfor %}"] {
            let said = render_text(source, &too_large).expect_err(source);
            assert!(said.contains("a whole number needs more than 128 bits"), "{source}: {said}");
        }
    }

    #[test]
    fn a_template_renders_the_text_itself() {
        for text in
            ["{{ x }}", "{% raw %}{{ a }}{% endraw %}", "{# c #}", "{{{%{#{", "{\"a\": {}}", "{{{{{", "}} %} #}", "{"]
        {
            let rendered = render_text(&format!("{}\n", literal(text)), &json!({}));
            assert_eq!(rendered.as_deref().map(str::trim_end), Ok(text));
        }
    }
}
