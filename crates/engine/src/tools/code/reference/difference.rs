//! What a function changed in a value that it was given as ordinary dicts and lists. Both are walked side by side, so that
//! nothing is written as JSON but what differs.

use std::cell::Cell;
use std::sync::Arc;

use domain::patch::{Patch, PatchOp, join};
use starlark::values::dict::DictRef;
use starlark::values::float::UnpackFloat;
use starlark::values::list::ListRef;
use starlark::values::{UnpackValue, Value};

use super::{MAX_VALUES, convert, name};
use crate::world::{self, Node};

/// How far a value may nest, and how many values may still be read.
struct Walk<'a> {
    left: Cell<usize>,
    patch: &'a mut Patch,
}

/// Appends what must be patched at `at`, where `before` is.
///
/// # Errors
/// What is no JSON.
pub fn diff(before: &Node, value: Value<'_>, at: &str, levels: usize, patch: &mut Patch) -> Result<(), String> {
    Walk { left: Cell::new(MAX_VALUES), patch }.diff(before, value, at, levels)
}

impl Walk<'_> {
    fn diff(&mut self, before: &Node, value: Value<'_>, at: &str, levels: usize) -> Result<(), String> {
        let left = self.left.get();
        if self.is_as_before(before, value, levels) {
            return Ok(());
        }
        self.left.set(left);
        match (before, DictRef::from_value(value), ListRef::from_value(value)) {
            (Node::Map(records), Some(dict), _) if levels > 0 && self.count() => {
                let entries = dict.iter().map(|(key, value)| Ok((name(key)?, value)));
                let mut entries = entries.collect::<Result<Vec<(&str, Value<'_>)>, String>>()?;
                entries.sort_unstable_by_key(|(key, _)| *key);
                for key in records.keys().filter(|key| dict.get_str(key).is_none()) {
                    self.patch.push(PatchOp::Remove { path: join(at, key) });
                }
                entries.into_iter().try_for_each(|(key, value)| self.item(records.get(key), value, at, key, levels - 1))
            }
            (Node::List(items), _, Some(list)) if levels > 0 && self.count() => {
                let place = |i: usize| i.to_string();
                for (i, value) in list.iter().enumerate() {
                    self.item(items.get(i), value, at, &place(i), levels - 1)?;
                }
                for i in (list.len()..items.len()).rev() {
                    self.patch.push(PatchOp::Remove { path: join(at, &place(i)) });
                }
                Ok(())
            }
            _ => {
                let after = self.node(value, levels)?;
                world::diff(before, &after, at, self.patch);
                Ok(())
            }
        }
    }

    fn item(
        &mut self,
        before: Option<&Node>,
        value: Value<'_>,
        at: &str,
        key: &str,
        levels: usize,
    ) -> Result<(), String> {
        if let Some(before) = before {
            return self.diff(before, value, &join(at, key), levels);
        }
        let value = self.node(value, levels)?.to_json();
        self.patch.push(PatchOp::Add { path: join(at, key), value });
        Ok(())
    }

    /// Whether nothing was changed, as mostly. `false` may be wrong: keys may have come in another order.
    fn is_as_before(&self, before: &Node, value: Value<'_>, levels: usize) -> bool {
        if levels == 0 || !self.count() {
            return false;
        }
        match before {
            Node::Map(records) => DictRef::from_value(value).is_some_and(|dict| {
                let as_before = |((key, value), (known, before)): ((Value<'_>, Value<'_>), (&Arc<str>, &Node))| {
                    key.unpack_str() == Some(known) && self.is_as_before(before, value, levels - 1)
                };
                dict.len() == records.size() && dict.iter().zip(records.iter()).all(as_before)
            }),
            Node::List(items) => ListRef::from_value(value).is_some_and(|list| {
                let mut pairs = list.iter().zip(items.iter());
                list.len() == items.len() && pairs.all(|(value, before)| self.is_as_before(before, value, levels - 1))
            }),
            leaf => same(leaf, value),
        }
    }

    fn node(&self, value: Value<'_>, levels: usize) -> Result<Node, String> {
        convert(value, levels, &self.left).map(|json| Node::from(&json))
    }

    /// Whether one more value may be read. If not, whoever reads it next says so.
    fn count(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }
}

/// Whether both are one and the same text, number or the like. `false` may be wrong.
fn same(before: &Node, value: Value<'_>) -> bool {
    match before {
        Node::Null => value.is_none(),
        Node::Bool(b) => value.unpack_bool() == Some(*b),
        Node::Text(text) => value.unpack_str() == Some(text),
        Node::Number(number) => match value.unpack_i32() {
            Some(i) => number.as_i64() == Some(i.into()),
            None if value.get_type() == "float" && number.is_f64() => {
                UnpackFloat::unpack_value_opt(value).is_some_and(|f| number.as_f64() == Some(f.0))
            }
            None => false,
        },
        Node::List(_) | Node::Map(_) => false,
    }
}
