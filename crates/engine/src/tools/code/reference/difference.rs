//! What a function changed in a value of the world. Both are walked side by side, so that nothing is written as JSON but
//! what differs.

use domain::patch::{Patch, PatchOp, join};
use starlark::values::dict::DictRef;
use starlark::values::float::UnpackFloat;
use starlark::values::list::ListRef;
use starlark::values::{UnpackValue, Value, ValueLike};

use super::to_json::Writer;
use super::{Collection, name};
use crate::world::{self, Node};

/// The patch so far. What is put into the world is counted for all of it: one text may stand at a thousand places.
#[derive(Default)]
pub struct PatchBuilder {
    pub patch: Patch,
    writer: Writer,
}

impl PatchBuilder {
    pub fn node(&self, value: Value<'_>, levels: usize) -> Result<Node, String> {
        self.writer.node_of(value, levels)
    }
}

/// Appends what must be patched at `at`, where `before` is.
///
/// # Errors
/// What is no JSON.
pub fn diff(before: &Node, value: Value<'_>, at: &str, levels: usize, made: &mut PatchBuilder) -> Result<(), String> {
    if same_leaf(before, value) {
        return Ok(());
    }
    if let Some(collection) = value.downcast_ref::<Collection>().filter(|collection| collection.stands_for(before))
        && levels > 0
    {
        return collection.changes(at, levels, made);
    }
    match (before, DictRef::from_value(value), ListRef::from_value(value)) {
        (Node::Map(records), Some(dict), _) if levels > 0 => {
            let entries = dict.iter().map(|(key, value)| Ok((name(key)?, value)));
            let mut entries = entries.collect::<Result<Vec<(&str, Value<'_>)>, String>>()?;
            entries.sort_unstable_by_key(|(key, _)| *key);
            for key in records.keys().filter(|key| dict.get_str(key).is_none()) {
                made.patch.push(PatchOp::Remove { path: join(at, key) });
            }
            entries.into_iter().try_for_each(|(key, value)| item(records.get(key), value, at, key, levels - 1, made))
        }
        (Node::List(items), _, Some(list)) if levels > 0 => {
            let place = |i: usize| i.to_string();
            for (i, value) in list.iter().enumerate() {
                match items.get(i) {
                    Some(before) if is_untouched(before, value) => {}
                    before => item(before, value, at, &place(i), levels - 1, made)?,
                }
            }
            for i in (list.len()..items.len()).rev() {
                made.patch.push(PatchOp::Remove { path: join(at, &place(i)) });
            }
            Ok(())
        }
        _ => {
            world::diff(before, &made.node(value, levels)?, at, &mut made.patch);
            Ok(())
        }
    }
}

/// The same for what is at a key beneath `at`, whose path is made only if something differs.
pub fn diff_at(
    before: &Node,
    value: Value<'_>,
    at: &str,
    key: &str,
    levels: usize,
    made: &mut PatchBuilder,
) -> Result<(), String> {
    if is_untouched(before, value) { Ok(()) } else { diff(before, value, &join(at, key), levels, made) }
}

fn item(
    before: Option<&Node>,
    value: Value<'_>,
    at: &str,
    key: &str,
    levels: usize,
    made: &mut PatchBuilder,
) -> Result<(), String> {
    if let Some(before) = before {
        return diff_at(before, value, at, key, levels, made);
    }
    let value = made.node(value, levels)?.to_json();
    made.patch.push(PatchOp::Add { path: join(at, key), value });
    Ok(())
}

/// Whether nothing was changed, as mostly. `false` may be wrong.
fn is_untouched(before: &Node, value: Value<'_>) -> bool {
    match value.downcast_ref::<Collection>() {
        Some(collection) => collection.stands_for(before) && collection.touched.borrow().slots.is_empty(),
        None => same_leaf(before, value),
    }
}

/// Whether both are one and the same text, number or the like. `false` may be wrong.
fn same_leaf(before: &Node, value: Value<'_>) -> bool {
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
