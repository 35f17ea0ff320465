//! A JSON value whose maps and lists share structure between versions.

use std::sync::Arc;

use domain::patch::index;
use domain::quoted;
use rpds::{RedBlackTreeMapSync, VectorSync};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Number, Value};

#[derive(Debug, Clone)]
pub enum Node {
    Null,
    Bool(bool),
    Number(Number),
    Text(Arc<str>),
    List(VectorSync<Node>),
    Map(RedBlackTreeMapSync<Arc<str>, Node>),
}

impl Node {
    pub fn get(&self, path: &[String]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.child(key))
    }

    pub fn child(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(map) => map.get(key),
            Self::List(list) => list.get(index(key)?),
            _ => None,
        }
    }

    pub fn to_json(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(b) => (*b).into(),
            Self::Number(n) => Value::Number(n.clone()),
            Self::Text(s) => Value::String(s.to_string()),
            Self::List(list) => list.iter().map(Self::to_json).collect(),
            Self::Map(map) => Value::Object(map.iter().map(|(k, v)| (k.to_string(), v.to_json())).collect()),
        }
    }

    /// Writes JSON in which equal values are equal texts: sorted keys, integral numbers without a fraction.
    pub fn write_canonical(&self, out: &mut impl FnMut(&str)) {
        match self {
            Self::Null => out("null"),
            Self::Bool(b) => out(if *b { "true" } else { "false" }),
            Self::Number(n) => out(&canonical_number(n)),
            Self::Text(text) => write_text(text, out),
            Self::List(list) => {
                out("[");
                for (i, item) in list.iter().enumerate() {
                    if i > 0 {
                        out(",");
                    }
                    item.write_canonical(out);
                }
                out("]");
            }
            Self::Map(map) => {
                out("{");
                for (i, (key, item)) in map.iter().enumerate() {
                    if i > 0 {
                        out(",");
                    }
                    write_text(key, out);
                    out(":");
                    item.write_canonical(out);
                }
                out("}");
            }
        }
    }
}

fn write_text(text: &str, out: &mut impl FnMut(&str)) {
    if quoted::is_plain(text) {
        out("\"");
        out(text);
        out("\"");
    } else {
        out(&Value::from(text).to_string());
    }
}

/// The number as text; an integral float that is exact as an integer is written as one. An integer of more than 64 bits
/// is the float that tools compute with, or reading it would change it.
fn canonical_number(n: &Number) -> String {
    /// 2^53: beyond it floats skip integers.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match n.as_f64() {
        Some(0.0) => "0".to_owned(),
        #[expect(clippy::cast_possible_truncation, reason = "exact: it is an integer")]
        Some(f) if n.is_f64() && f.fract() == 0.0 && f.abs() < EXACT => (f as i64).to_string(),
        Some(f) if n.as_i64().is_none() && n.as_u64().is_none() && f.is_finite() => f.to_string(),
        _ => n.to_string(),
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Number(a), Self::Number(b)) => a == b || canonical_number(a) == canonical_number(b),
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            (Self::Map(a), Self::Map(b)) => {
                a.ptr_eq(b) || (a.size() == b.size() && a.iter().zip(b.iter()).all(|(x, y)| x == y))
            }
            _ => false,
        }
    }
}

impl From<&Value> for Node {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(b) => Self::Bool(*b),
            Value::Number(n) => Self::Number(n.clone()),
            Value::String(s) => Self::Text(s.as_str().into()),
            Value::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Object(map) => Self::Map(map.iter().map(|(k, v)| (Arc::from(k.as_str()), Self::from(v))).collect()),
        }
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|value| Self::from(&value))
    }
}
