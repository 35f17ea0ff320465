//! Where the values of a document stand in its text: a tree of lines beside the tree of values, a few bytes a value. Pointers
//! and names of fields are made when somebody asks for one.

use std::fmt::Write;

use serde_json::Value;

use crate::patch;

/// The line of a value, and the places of what is in it, in the same order.
#[derive(Debug, Clone, Default)]
pub struct Place {
    line: usize,
    within: Vec<Place>,
}

impl Place {
    pub const fn at(line: usize) -> Self {
        Self { line, within: Vec::new() }
    }

    pub const fn around(line: usize, within: Vec<Self>) -> Self {
        Self { line, within }
    }

    /// The line of what stands at a pointer of this value, or of the nearest value around it; counted from 1.
    pub fn line(&self, value: &Value, pointer: &str) -> usize {
        let (mut place, mut value) = (self, value);
        for segment in patch::segments(pointer).unwrap_or_default() {
            let inner = match value {
                Value::Array(items) => patch::index(&segment).and_then(|i| Some((i, items.get(i)?))),
                Value::Object(map) => {
                    map.iter().enumerate().find(|(_, (key, _))| **key == segment).map(|(i, (_, inner))| (i, inner))
                }
                _ => None,
            };
            let Some((i, inner)) = inner else { break };
            let Some(at) = place.within.get(i) else { break };
            (place, value) = (at, inner);
        }
        place.line
    }
}

/// `/tools/2/simulate` as people write it: `tools[2].simulate`.
pub fn dotted(pointer: &str) -> String {
    let mut out = String::new();
    for segment in patch::segments(pointer).unwrap_or_default() {
        if is_number(&segment) {
            let _ = write!(out, "[{segment}]");
        } else {
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(&segment);
        }
    }
    out
}

/// The pointer of the value whose [dotted] name this is.
pub fn pointer(value: &Value, name: &str) -> Option<String> {
    find(value, name, true)
}

/// The pointer from here to what the rest of a name means. Depth is bounded as that of the document.
fn find(value: &Value, rest: &str, is_first: bool) -> Option<String> {
    if rest.is_empty() {
        return Some(String::new());
    }
    let inner = |segment: &str, inner: &Value| {
        let rest = after(rest, segment, is_first)?;
        Some(patch::join("", segment) + &find(inner, rest, false)?)
    };
    match value {
        Value::Array(items) => items.iter().enumerate().find_map(|(i, item)| inner(&i.to_string(), item)),
        Value::Object(map) => map.iter().find_map(|(key, item)| inner(key, item)),
        _ => None,
    }
}

/// The rest of a name after a segment; `None` if it does not begin with that segment.
fn after<'a>(name: &'a str, segment: &str, is_first: bool) -> Option<&'a str> {
    if is_number(segment) {
        return name.strip_prefix('[')?.strip_prefix(segment)?.strip_prefix(']');
    }
    let name = if is_first { name } else { name.strip_prefix('.')? };
    name.strip_prefix(segment)
}

fn is_number(segment: &str) -> bool {
    segment.parse::<usize>().is_ok()
}
