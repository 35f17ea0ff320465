//! JSON as values of Starlark.

use num_bigint::BigInt;
use serde_json::{Number, Value as Json};
use starlark::values::dict::AllocDict;
use starlark::values::list::AllocList;
use starlark::values::{Heap, Value};

use crate::limits::MOST_DIGITS;

/// A JSON value as lists and dicts of its own, which are nobody's world.
pub fn of_json<'v>(value: &Json, heap: Heap<'v>) -> Value<'v> {
    match value {
        Json::Null => Value::new_none(),
        Json::Bool(b) => Value::new_bool(*b),
        Json::Number(n) => number(n, heap),
        Json::String(text) => heap.alloc_str(text).to_value(),
        Json::Array(items) => heap.alloc(AllocList(items.iter().map(|item| of_json(item, heap)))),
        Json::Object(map) => heap.alloc(AllocDict(map.iter().map(|(key, item)| (key.as_str(), of_json(item, heap))))),
    }
}

/// An integer stays one, also where it needs more than 64 bits. What no float can hold is infinite.
pub fn number<'v>(n: &Number, heap: Heap<'v>) -> Value<'v> {
    match (n.as_i64(), n.as_u64()) {
        (Some(i), _) => heap.alloc(i),
        (None, Some(u)) => heap.alloc(u),
        (None, None) => {
            let text = n.to_string();
            let large =
                Some(&text).filter(|text| text.len() <= MOST_DIGITS).and_then(|text| text.parse::<BigInt>().ok());
            large.map_or_else(|| heap.alloc(text.parse().unwrap_or(f64::NAN)), |large| heap.alloc(large))
        }
    }
}
