//! The types of values in a workflow, as far as they are known before anything is played.

use std::fmt;

use indexmap::IndexMap;
use serde_json::{Map, Number, Value, json};

/// Objects and lists of a type within each other.
const MOST_LEVELS: usize = 12;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// Nothing is known of it.
    Any,
    Null,
    Boolean,
    Number,
    /// A number without a fraction, as an input row or the schema of a reply declares it. Expressions see it as a number.
    Integer,
    Text,
    List(Box<Type>),
    /// A list whose items can be used before all of them are there.
    Stream(Box<Type>),
    /// An object with exactly these keys; without any, an object of which nothing else is known.
    Record(IndexMap<String, Type>),
    /// It may be `None`.
    Optional(Box<Type>),
}

impl Type {
    pub fn list(of: Self) -> Self {
        Self::List(Box::new(of))
    }

    pub fn stream(of: Self) -> Self {
        Self::Stream(Box::new(of))
    }

    /// A value of this type, or `None`.
    #[must_use]
    pub fn or_none(self) -> Self {
        match self {
            Self::Any | Self::Null | Self::Optional(_) => self,
            known => Self::Optional(Box::new(known)),
        }
    }

    /// The type once it is known that the value is there. Of one that was only seen as `None`, nothing is known then.
    #[must_use]
    pub fn present(&self) -> Self {
        match self {
            Self::Null => Self::Any,
            Self::Optional(of) => (**of).clone(),
            known => known.clone(),
        }
    }

    /// The type of a stream that is complete.
    #[must_use]
    pub fn whole(self) -> Self {
        match self {
            Self::Stream(of) => Self::List(of),
            known => known,
        }
    }

    /// The type as expressions see it: they count with numbers of one kind.
    #[must_use]
    pub fn in_expressions(&self) -> Self {
        match self {
            Self::Integer => Self::Number,
            Self::List(of) => Self::list(of.in_expressions()),
            Self::Stream(of) => Self::stream(of.in_expressions()),
            Self::Optional(of) => of.in_expressions().or_none(),
            Self::Record(fields) if fields.is_empty() => Self::Any,
            Self::Record(fields) => {
                Self::Record(fields.iter().map(|(key, of)| (key.clone(), of.in_expressions())).collect())
            }
            other => other.clone(),
        }
    }

    /// The type of the items of a list or stream; `None` if it is neither.
    pub fn item(&self) -> Option<Self> {
        match self {
            Self::Any => Some(Self::Any),
            Self::List(of) | Self::Stream(of) => Some((**of).clone()),
            _ => None,
        }
    }

    const fn may_be_missing(&self) -> bool {
        matches!(self, Self::Optional(_) | Self::Any)
    }

    /// A type that both values have.
    #[must_use]
    pub fn unite(&self, other: &Self) -> Self {
        match (self, other) {
            _ if self == other => self.clone(),
            (Self::Null, known) | (known, Self::Null) => known.clone().or_none(),
            (Self::Integer, Self::Number) | (Self::Number, Self::Integer) => Self::Number,
            (Self::Optional(a), b) | (b, Self::Optional(a)) => a.unite(&b.present()).or_none(),
            (Self::List(a) | Self::Stream(a), Self::List(b) | Self::Stream(b)) => Self::list(a.unite(b)),
            (Self::Record(a), Self::Record(b)) if a.len() == b.len() && a.keys().all(|key| b.contains_key(key)) => {
                Self::Record(a.iter().map(|(key, of)| (key.clone(), of.unite(&b[key]))).collect())
            }
            _ => Self::Any,
        }
    }

    /// Whether a value of this type can stand where `wanted` is expected. What is not known may.
    pub fn fits(&self, wanted: &Self) -> bool {
        match (self, wanted) {
            // Whether a number is whole is known when it is there.
            (Self::Any, _) | (_, Self::Any) | (Self::Null, Self::Optional(_)) | (Self::Number, Self::Integer) => true,
            (Self::Integer, wanted) => *wanted == Self::Integer || Self::Number.fits(wanted),
            (known, Self::Optional(b)) => known.present().fits(b),
            (Self::List(a) | Self::Stream(a), Self::List(b) | Self::Stream(b)) => a.fits(b),
            (Self::Record(a), Self::Record(b)) => b.iter().all(|(key, of)| match a.get(key) {
                Some(own) => own.fits(of),
                None => of.may_be_missing(),
            }),
            _ => self == wanted,
        }
    }

    /// The type that a document declares: a name, or a mapping of names to types.
    ///
    /// # Errors
    /// There is no such type.
    pub fn declared(spec: &Value) -> Result<Self, String> {
        declared(spec, MOST_LEVELS)
    }

    /// The type of the values that a JSON Schema allows.
    pub fn of_schema(schema: &Value) -> Self {
        of_schema(schema, MOST_LEVELS)
    }

    /// The JSON Schema of the values of this type.
    pub fn schema(&self) -> Value {
        match self {
            Self::Any => json!({}),
            Self::Null => json!({"type": "null"}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::Number => json!({"type": "number"}),
            Self::Integer => json!({"type": "integer"}),
            Self::Text => json!({"type": "string"}),
            Self::List(of) | Self::Stream(of) => json!({"type": "array", "items": of.schema()}),
            Self::Record(fields) => {
                let present = fields.iter().filter(|(_, of)| !of.may_be_missing());
                let required: Vec<&str> = present.map(|(key, _)| key.as_str()).collect();
                let properties: Map<String, Value> =
                    fields.iter().map(|(key, of)| (key.clone(), of.schema())).collect();
                json!({"type": "object", "properties": properties, "required": required})
            }
            Self::Optional(of) => json!({"anyOf": [of.schema(), {"type": "null"}]}),
        }
    }

    /// Gives a value of this type the keys that it may lack and does: they are `None`.
    pub fn complete(&self, value: &mut Value) {
        match (self, value) {
            // Code counts with it, and a number with a point is no count.
            (Self::Integer, Value::Number(number)) => {
                if let Some(whole) = whole(number) {
                    *number = whole;
                }
            }
            (Self::Optional(of), value) => of.complete(value),
            (Self::List(of) | Self::Stream(of), Value::Array(items)) => {
                items.iter_mut().for_each(|item| of.complete(item));
            }
            (Self::Record(fields), Value::Object(map)) => {
                for (key, of) in fields {
                    match map.get_mut(key) {
                        Some(value) => of.complete(value),
                        None if of.may_be_missing() => drop(map.insert(key.clone(), Value::Null)),
                        None => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// Why a value is not of this type.
    ///
    /// # Errors
    /// The place within the value, and what was expected there.
    pub fn check(&self, value: &Value, at: &str) -> Result<(), String> {
        let wrong = || Err(format!("{}expected {self}, found {}", place(at), described(value)));
        let fraction = |number: &Number| Err(format!("{}expected {self}, found {number}", place(at)));
        match (self, value) {
            (Self::Any, _) | (Self::Null | Self::Optional(_), Value::Null) => Ok(()),
            (Self::Optional(of), value) => of.check(value, at),
            (Self::Boolean, Value::Bool(_)) | (Self::Number, Value::Number(_)) | (Self::Text, Value::String(_)) => {
                Ok(())
            }
            (Self::Integer, Value::Number(number)) => {
                if is_whole(number) {
                    Ok(())
                } else {
                    fraction(number)
                }
            }
            (Self::List(of) | Self::Stream(of), Value::Array(items)) => {
                items.iter().enumerate().try_for_each(|(i, item)| of.check(item, &format!("{at}[{i}]")))
            }
            (Self::Record(fields), Value::Object(map)) => fields.iter().try_for_each(|(key, of)| {
                let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                match map.get(key) {
                    Some(value) => of.check(value, &at),
                    None if of.may_be_missing() => Ok(()),
                    None => Err(format!("{}is missing; expected {of}", place(&at))),
                }
            }),
            _ => wrong(),
        }
    }
}

/// As JSON Schema has it, 2.0 is an integer.
fn is_whole(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || has_digits_only(number) || whole(number).is_some()
}

/// Whether it is written without a point and an exponent, of whatever size it is.
fn has_digits_only(number: &Number) -> bool {
    let text = number.to_string();
    text.strip_prefix('-').unwrap_or(&text).bytes().all(|digit| digit.is_ascii_digit())
}

/// A number such as 2.0 or 1e3 as one without a point, if a float tells exactly which one it is.
#[expect(clippy::cast_possible_truncation, reason = "it is below 2^53")]
fn whole(number: &Number) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|_| !number.is_i64() && !number.is_u64())?;
    (float.fract() == 0.0 && float.abs() < EXACT).then(|| Number::from(float as i64))
}

fn place(at: &str) -> String {
    if at.is_empty() { String::new() } else { format!("{at}: ") }
}

fn described(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn declared(spec: &Value, levels: usize) -> Result<Type, String> {
    let levels = levels.checked_sub(1).ok_or_else(|| format!("nests types deeper than {MOST_LEVELS} levels"))?;
    match spec {
        Value::String(name) => named(name.trim(), levels),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, of)| Ok((key.clone(), declared(of, levels)?)));
            fields.collect::<Result<_, String>>().map(Type::Record)
        }
        other => Err(format!("is {} and no type: expected a name such as `text`, or a mapping", described(other))),
    }
}

fn named(name: &str, levels: usize) -> Result<Type, String> {
    if let Some(of) = name.strip_suffix('?') {
        return Ok(named(of, levels)?.or_none());
    }
    if let Some(of) = name.strip_prefix("list<").and_then(|rest| rest.strip_suffix('>')) {
        return declared(&Value::from(of), levels).map(Type::list);
    }
    match name {
        "text" => Ok(Type::Text),
        "number" => Ok(Type::Number),
        "integer" => Ok(Type::Integer),
        "boolean" => Ok(Type::Boolean),
        "any" => Ok(Type::Any),
        "object" => Ok(Type::Record(IndexMap::new())),
        "list" => Ok(Type::list(Type::Any)),
        _ => Err(format!(
            "`{name}` is no type; there are text, number, integer, boolean, object, any, list<TYPE>, and TYPE? for a \
             value that may be missing"
        )),
    }
}

fn of_schema(schema: &Value, levels: usize) -> Type {
    let (Some(map), Some(levels)) = (schema.as_object(), levels.checked_sub(1)) else { return Type::Any };
    match map.get("type") {
        Some(Value::Array(types)) => {
            let mut types = types.iter().map(|kind| of_kind(map, kind, levels));
            types.next().map_or(Type::Any, |first| types.fold(first, |a, b| a.unite(&b)))
        }
        Some(kind) => of_kind(map, kind, levels),
        None => Type::Any,
    }
}

fn of_kind(map: &Map<String, Value>, kind: &Value, levels: usize) -> Type {
    match kind.as_str() {
        Some("string") => Type::Text,
        Some("number") => Type::Number,
        Some("integer") => Type::Integer,
        Some("boolean") => Type::Boolean,
        Some("null") => Type::Null,
        Some("array") => Type::list(map.get("items").map_or(Type::Any, |items| of_schema(items, levels))),
        Some("object") => record(map, levels),
        _ => Type::Any,
    }
}

/// A record if all its keys are known.
fn record(map: &Map<String, Value>, levels: usize) -> Type {
    let Some(properties) = map.get("properties").and_then(Value::as_object) else { return Type::Any };
    let required: Vec<&str> =
        map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = properties.iter().map(|(key, of)| {
        let of = of_schema(of, levels);
        (key.clone(), if required.contains(&key.as_str()) { of } else { of.or_none() })
    });
    Type::Record(fields.collect())
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Null => f.write_str("None"),
            Self::Boolean => f.write_str("boolean"),
            Self::Number => f.write_str("number"),
            Self::Integer => f.write_str("integer"),
            Self::Text => f.write_str("text"),
            Self::List(of) => write!(f, "list<{of}>"),
            Self::Stream(of) => write!(f, "stream<{of}>"),
            Self::Record(fields) if fields.is_empty() => f.write_str("object"),
            Self::Record(fields) => {
                let fields: Vec<String> = fields.iter().map(|(key, of)| format!("{key}: {of}")).collect();
                write!(f, "{{{}}}", fields.join(", "))
            }
            Self::Optional(of) => write!(f, "{of}?"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_and_written_alike() {
        for text in
            ["text", "number", "integer", "boolean", "any", "list<text>", "list<list<number>>", "text?", "list<text?>?"]
        {
            assert_eq!(Type::declared(&json!(text)).map(|of| of.to_string()), Ok(text.to_owned()));
        }
        let record = Type::declared(&json!({"id": "text", "tags": "list<text>", "at": {"line": "integer"}}));
        assert_eq!(record.unwrap().to_string(), "{id: text, tags: list<text>, at: {line: integer}}");
        assert!(Type::declared(&json!("txt")).unwrap_err().starts_with("`txt` is no type; there are text"));
        assert!(Type::declared(&json!(3)).unwrap_err().starts_with("is a number and no type"));
        let deep = "list<".repeat(20) + "text" + &">".repeat(20);
        assert_eq!(Type::declared(&json!(deep)).unwrap_err(), "nests types deeper than 12 levels");
    }

    #[test]
    fn a_schema_says_what_type_a_reply_has() {
        let schema = json!({"type": "object", "required": ["ids"], "properties": {
            "ids": {"type": "array", "items": {"type": "integer"}}, "why": {"type": ["string", "null"]}}});
        assert_eq!(Type::of_schema(&schema).to_string(), "{ids: list<integer>, why: text?}");
        assert_eq!(Type::of_schema(&json!({"type": ["integer", "number", "null"]})).to_string(), "number?");
        assert_eq!(Type::of_schema(&json!({"type": "object"})), Type::Any);
        assert_eq!(Type::of_schema(&json!(true)), Type::Any);
    }

    #[test]
    fn a_type_has_a_schema() {
        let of = Type::declared(&json!({"city": "text", "days": "integer?", "tags": "list<text>", "more": "any"}));
        let schema = of.unwrap().schema();
        let expected = json!({"type": "object", "required": ["city", "tags"], "properties": {
            "city": {"type": "string"}, "days": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "tags": {"type": "array", "items": {"type": "string"}}, "more": {}}});
        assert_eq!(schema, expected);
    }

    #[test]
    fn a_value_is_checked_with_its_place() {
        let of = Type::declared(&json!({"options": "list<text>", "answer": "text?"})).unwrap();
        assert_eq!(of.check(&json!({"options": ["a"], "more": 1}), ""), Ok(()));
        let said = |value: Value| of.check(&value, "").unwrap_err();
        assert_eq!(said(json!({"options": ["a", 2]})), "options[1]: expected text, found a number");
        assert_eq!(said(json!({})), "options: is missing; expected list<text>");
        let counts = Type::declared(&json!("list<integer>")).unwrap();
        assert_eq!(counts.check(&json!([1, -2, 3.0, 18_446_744_073_709_551_615_u64]), "counts"), Ok(()));
        assert_eq!(counts.check(&json!([1, 1.5]), "counts").unwrap_err(), "counts[1]: expected integer, found 1.5");
        let mut whole = json!([1, 3.0, -2.0, 1.5]);
        counts.complete(&mut whole);
        assert_eq!(whole.to_string(), "[1,3,-2,1.5]");
        let long: Value = serde_json::from_str("[36893488147419103233, -36893488147419103233]").unwrap();
        assert_eq!(counts.check(&long, "counts"), Ok(()));
        assert!(counts.check(&json!([1e300]), "counts").is_err(), "a float does not tell whether it is whole");
        assert_eq!(counts.check(&json!(["1"]), "counts").unwrap_err(), "counts[0]: expected integer, found a text");
        let any = Type::declared(&json!("object")).unwrap();
        assert_eq!((any.check(&json!({"a": 1}), ""), any.in_expressions()), (Ok(()), Type::Any));
        assert_eq!(any.check(&json!([1]), "o").unwrap_err(), "o: expected object, found a list");
        assert_eq!(said(json!([])), "expected {options: list<text>, answer: text?}, found a list");
    }

    #[test]
    fn united_types_hold_both() {
        let (text, number) = (Type::Text, Type::Number);
        assert_eq!(text.unite(&Type::Null).to_string(), "text?");
        assert_eq!(text.unite(&number), Type::Any);
        let record = |text: &str| Type::declared(&serde_json::from_str(text).unwrap()).unwrap();
        let united = record(r#"{"a": "text", "b": "number"}"#).unite(&record(r#"{"b": "number", "a": "text?"}"#));
        assert_eq!(united.to_string(), "{a: text?, b: number}");
        assert_eq!(record(r#"{"a": "text"}"#).unite(&record(r#"{"b": "text"}"#)), Type::Any);
        assert_eq!(Type::list(text.clone()).unite(&Type::stream(Type::Text)).to_string(), "list<text>");
        assert!(text.fits(&text.clone().or_none()) && !text.clone().or_none().fits(&text) && !text.fits(&number));
        let integers = Type::list(Type::Integer);
        assert!(integers.fits(&Type::list(Type::Number)) && Type::list(number).fits(&integers));
        assert_eq!(integers.or_none().in_expressions().to_string(), "list<number>?");
    }
}
