//! JSON values to YAML, laid out for people who go on writing by hand.

use std::borrow::Cow;

use saphyr::{Scalar, Yaml, YamlEmitter};
use serde_json::{Number, Value};

/// The value as YAML in block style, with texts of several lines as such. [`super::value`] reads the same value back,
/// apart from numbers that no float can hold: they become nothing.
pub fn text(value: &Value) -> String {
    let mut text = String::new();
    let mut emitter = YamlEmitter::new(&mut text);
    emitter.multiline(true);
    // A String takes whatever is written to it.
    emitter.dump(&yaml(value)).ok();
    let body = text.strip_prefix("---\n").unwrap_or(&text);
    format!("{}\n", body.trim_end_matches('\n'))
}

fn yaml(value: &Value) -> Yaml<'_> {
    let scalar = match value {
        Value::Array(items) => return Yaml::Sequence(items.iter().map(yaml).collect()),
        Value::Object(map) => {
            let key = |key| Yaml::Value(Scalar::String(Cow::Borrowed(key)));
            return Yaml::Mapping(map.iter().map(|(name, item)| (key(name.as_str()), yaml(item))).collect());
        }
        Value::Null => Scalar::Null,
        Value::Bool(b) => Scalar::Boolean(*b),
        Value::Number(n) => number(n),
        Value::String(s) => Scalar::String(Cow::Borrowed(s)),
    };
    Yaml::Value(scalar)
}

fn number<'a>(number: &Number) -> Scalar<'a> {
    match (number.as_i64(), number.as_f64().filter(|f| f.is_finite())) {
        (Some(whole), _) => Scalar::Integer(whole),
        (None, Some(float)) => Scalar::FloatingPoint(float.into()),
        (None, None) => Scalar::Null,
    }
}
