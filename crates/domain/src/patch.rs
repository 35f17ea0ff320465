//! How a world changes: JSON Patch (RFC 6902), the three operations that state a result.
//!
//! `move`, `copy` and `test` are left out on purpose: a patch is a record of what became true, and each of its values
//! must be checkable on its own.

mod change;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

pub use change::{Change, apply};

pub type Patch = Vec<PatchOp>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub enum PatchOp {
    Add { path: String, value: Value },
    Remove { path: String },
    Replace { path: String, value: Value },
}

impl PatchOp {
    pub fn path(&self) -> &str {
        match self {
            Self::Add { path, .. } | Self::Remove { path } | Self::Replace { path, .. } => path,
        }
    }

    pub const fn value(&self) -> Option<&Value> {
        match self {
            Self::Add { value, .. } | Self::Replace { value, .. } => Some(value),
            Self::Remove { .. } => None,
        }
    }
}

/// Splits an RFC 6901 pointer into its unescaped segments; `None` if it is neither empty nor starts with `/`.
pub fn segments(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let rest = pointer.strip_prefix('/')?;
    // Hardly any name has a sign that needs escaping.
    let unescaped = |s: &str| if s.contains('~') { s.replace("~1", "/").replace("~0", "~") } else { s.to_owned() };
    Some(rest.split('/').map(unescaped).collect())
}

/// A segment as a place in a list: digits without a leading zero (RFC 6901).
pub fn index(segment: &str) -> Option<usize> {
    let plain = segment == "0" || (!segment.starts_with('0') && segment.bytes().all(|b| b.is_ascii_digit()));
    if plain { segment.parse().ok() } else { None }
}

/// Appends one segment to a pointer, escaped.
pub fn join(pointer: &str, segment: &str) -> String {
    if segment.contains(['~', '/']) {
        return [pointer, "/", &segment.replace('~', "~0").replace('/', "~1")].concat();
    }
    [pointer, "/", segment].concat()
}
