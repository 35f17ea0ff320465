//! The patch between two nodes. Records are compared key by key, lists place by place.

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
                let path = join(at, key);
                match a.get(key) {
                    Some(before) => diff(before, value, &path, patch),
                    None => patch.push(PatchOp::Add { path, value: value.to_json() }),
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
