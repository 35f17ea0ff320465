//! Values of Starlark as JSON.

use std::cell::Cell;

use serde_json::{Map, Number, Value as Json};
use starlark::values::dict::DictRef;
use starlark::values::float::UnpackFloat;
use starlark::values::list::ListRef;
use starlark::values::structs::StructRef;
use starlark::values::tuple::TupleRef;
use starlark::values::{UnpackValue, Value, ValueLike};

use super::{Collection, Entry, MAX_DEPTH};
use crate::limits::MOST_ANSWER_BYTES;
use crate::world::Node;

/// Values in an answer, or in what is put into the world at one place.
pub const MAX_VALUES: usize = 1_000_000;

/// The JSON of a value that a function made, with keys in the author's order.
///
/// # Errors
/// The value is not JSON: a function, too deep nesting, a number that is not finite.
pub fn json(value: Value<'_>) -> Result<Json, String> {
    json_within(value, MOST_ANSWER_BYTES)
}

/// The same, of at most so many bytes.
pub fn json_within(value: Value<'_>, most_bytes: usize) -> Result<Json, String> {
    Writer::of(most_bytes).value(value, MAX_DEPTH)
}

/// Lists that are shared in Starlark are not in JSON, so it is counted what is written.
pub struct Writer {
    /// How many values may still be written, and how many bytes.
    left: Cell<usize>,
    bytes: Cell<usize>,
    most_bytes: usize,
}

impl Default for Writer {
    fn default() -> Self {
        Self::of(MOST_ANSWER_BYTES)
    }
}

impl Writer {
    const fn of(most_bytes: usize) -> Self {
        Self { left: Cell::new(MAX_VALUES), bytes: Cell::new(most_bytes), most_bytes }
    }

    /// What a value of the world is, as part of all that one call puts there.
    pub fn node_of(&self, value: Value<'_>, levels: usize) -> Result<Node, String> {
        self.value(value, levels).map(|json| Node::from(&json))
    }

    fn text<'a>(&self, text: &'a str) -> Result<&'a str, String> {
        let fewer = self.bytes.get().checked_sub(text.len());
        self.bytes.set(fewer.ok_or_else(|| format!("holds more than {} bytes", self.most_bytes))?);
        Ok(text)
    }

    fn count(&self, levels: usize) -> Result<(), String> {
        if levels == 0 {
            return Err(format!("nests lists and dicts deeper than {MAX_DEPTH} levels"));
        }
        let fewer = self.left.get().checked_sub(1);
        self.left.set(fewer.ok_or_else(|| format!("holds more than {MAX_VALUES} values"))?);
        Ok(())
    }

    fn value(&self, value: Value<'_>, levels: usize) -> Result<Json, String> {
        self.count(levels)?;
        let inner = |value: Value<'_>| self.value(value, levels - 1);
        if value.is_none() {
            Ok(Json::Null)
        } else if let Some(b) = value.unpack_bool() {
            Ok(Json::Bool(b))
        } else if let Some(text) = value.unpack_str() {
            Ok(Json::from(self.text(text)?))
        } else if let Some(i) = value.unpack_i32() {
            Ok(Json::from(i))
        } else if let Some(list) = ListRef::from_value(value) {
            list.iter().map(inner).collect()
        } else if let Some(tuple) = TupleRef::from_value(value) {
            tuple.iter().map(inner).collect()
        } else if let Some(dict) = DictRef::from_value(value) {
            dict.iter().map(|(key, value)| Ok((self.text(name(key)?)?.to_owned(), inner(value)?))).collect()
        } else if let Some(collection) = value.downcast_ref::<Collection>() {
            self.collection(collection, levels)
        } else if let Some(fields) = StructRef::from_value(value) {
            fields.iter().map(|(key, value)| Ok((self.text(key.as_str())?.to_owned(), inner(value)?))).collect()
        } else {
            number(value)
        }
    }

    fn collection(&self, collection: &Collection<'_>, levels: usize) -> Result<Json, String> {
        let mut map = Map::new();
        collection.each(|key, entry| {
            let json = match entry {
                Entry::Before(node) => self.node(node, levels - 1)?,
                Entry::Now(value) => self.value(value, levels - 1)?,
            };
            map.insert(self.text(key)?.to_owned(), json);
            Ok::<(), String>(())
        })?;
        Ok(Json::Object(map))
    }

    fn node(&self, node: &Node, levels: usize) -> Result<Json, String> {
        self.count(levels)?;
        match node {
            Node::List(items) => items.iter().map(|item| self.node(item, levels - 1)).collect(),
            Node::Map(map) => {
                map.iter().map(|(key, node)| Ok((self.text(key)?.to_owned(), self.node(node, levels - 1)?))).collect()
            }
            Node::Text(text) => Ok(Json::from(self.text(text)?)),
            leaf => Ok(leaf.to_json()),
        }
    }
}

/// The same of a collection.
pub fn collection(collection: &Collection<'_>) -> Result<Json, String> {
    Writer::default().collection(collection, MAX_DEPTH)
}

/// The same as a value of the world.
pub fn node(value: Value<'_>, levels: usize) -> Result<Node, String> {
    Writer::default().node_of(value, levels)
}

/// A key of a dict, which must be a text.
pub fn name(key: Value<'_>) -> Result<&str, String> {
    key.unpack_str().ok_or_else(|| format!("has the key {}, which is no text", key.to_repr()))
}

fn number(value: Value<'_>) -> Result<Json, String> {
    let integer = || value.to_repr().parse::<Number>().ok();
    let found = match value.get_type() {
        "int" => integer(),
        "float" => UnpackFloat::unpack_value_opt(value).and_then(|f| Number::from_f64(f.0)),
        "set" => return Err("holds a set, which is no JSON: `sorted(...)` makes a list of it".to_owned()),
        _ => None,
    };
    found.map(Json::Number).ok_or_else(|| format!("holds {}, which is no JSON", value.to_repr()))
}
