//! A value of a row: JSON for templates and output, and the same as code sees it.

use std::sync::{Arc, OnceLock};

use engine::world::Node;
use serde_json::Value;

/// Cheap to clone; clones are the same value.
#[derive(Debug, Clone)]
pub struct Datum(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    json: Value,
    node: OnceLock<Node>,
}

impl Datum {
    pub fn json(&self) -> &Value {
        &self.0.json
    }

    /// As code sees it.
    pub fn node(&self) -> &Node {
        self.0.node.get_or_init(|| Node::from(&self.0.json))
    }

    /// What stands at these keys, or `None`.
    pub fn at(&self, keys: &[String]) -> Self {
        if keys.is_empty() {
            return self.clone();
        }
        keys.iter().try_fold(&self.0.json, |value, key| value.get(key)).cloned().unwrap_or_default().into()
    }
}

impl From<Value> for Datum {
    fn from(json: Value) -> Self {
        Self(Arc::new(Inner { json, node: OnceLock::new() }))
    }
}

impl PartialEq for Datum {
    fn eq(&self, other: &Self) -> bool {
        self.0.json == other.0.json
    }
}
