//! The patch between two nodes. Records are compared key by key, lists place by place.

use std::sync::Arc;

use domain::patch::{Patch, PatchOp, join};

use super::node::Node;

/// Appends what must be patched at `at`, where `old` is.
pub fn diff(old: &Node, new: &Node, at: &str, patch: &mut Patch) {
    match (old, new) {
        (Node::Map(a), Node::Map(b)) => {
            if a.ptr_eq(b) {
                return;
            }
            for (key, _) in a.iter().filter(|(key, _)| !b.contains_key(*key)) {
                patch.push(PatchOp::Remove { path: join(at, key) });
            }
            for (key, value) in b {
                match a.get(key) {
                    Some(before) if shared(before, value) => {}
                    Some(before) => diff(before, value, &join(at, key), patch),
                    None => patch.push(PatchOp::Add { path: join(at, key), value: value.to_json() }),
                }
            }
        }
        (Node::List(a), Node::List(b)) => {
            for (i, (before, after)) in a.iter().zip(b.iter()).enumerate() {
                diff(before, after, &join(at, &i.to_string()), patch);
            }
            for (i, added) in b.iter().enumerate().skip(a.len()) {
                patch.push(PatchOp::Add { path: join(at, &i.to_string()), value: added.to_json() });
            }
            for i in (b.len()..a.len()).rev() {
                patch.push(PatchOp::Remove { path: join(at, &i.to_string()) });
            }
        }
        _ if old == new => {}
        _ => patch.push(PatchOp::Replace { path: at.to_owned(), value: new.to_json() }),
    }
}

/// Whether two versions have a node in common, as they have most.
fn shared(old: &Node, new: &Node) -> bool {
    match (old, new) {
        (Node::Map(a), Node::Map(b)) => a.ptr_eq(b),
        (Node::Text(a), Node::Text(b)) => Arc::ptr_eq(a, b),
        (Node::Number(a), Node::Number(b)) => a == b,
        _ => false,
    }
}
