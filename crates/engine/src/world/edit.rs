//! Applying one patch operation: copies the path it touches, shares the rest.

use std::sync::Arc;

use domain::patch::{self, PatchOp, index};
use rpds::VectorSync;

use super::node::Node;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    #[error("`{0}` is not a JSON pointer")]
    BadPointer(String),
    #[error("`{0}` does not exist")]
    Missing(String),
    #[error("the whole world cannot be replaced")]
    Root,
}

pub fn apply(root: &Node, op: &PatchOp) -> Result<Node, PatchError> {
    let pointer = op.path();
    let path = patch::segments(pointer).ok_or_else(|| PatchError::BadPointer(pointer.to_owned()))?;
    if path.is_empty() {
        return Err(PatchError::Root);
    }
    at(root, &path, op).ok_or_else(|| PatchError::Missing(pointer.to_owned()))
}

/// The node with the operation done beneath it; `None` where the path leads nowhere.
fn at(node: &Node, path: &[String], op: &PatchOp) -> Option<Node> {
    let (key, rest) = path.split_first()?;
    if rest.is_empty() {
        return leaf(node, key, op);
    }
    let child = at(node.child(key)?, rest, op)?;
    match node {
        Node::Map(map) => Some(Node::Map(map.insert(Arc::from(key.as_str()), child))),
        Node::List(list) => list.set(index(key)?, child).map(Node::List),
        _ => None,
    }
}

fn leaf(node: &Node, key: &str, op: &PatchOp) -> Option<Node> {
    match node {
        Node::Map(map) => match op {
            PatchOp::Add { value, .. } => Some(Node::Map(map.insert(Arc::from(key), value.into()))),
            PatchOp::Replace { value, .. } => {
                map.contains_key(key).then(|| Node::Map(map.insert(Arc::from(key), value.into())))
            }
            PatchOp::Remove { .. } => map.contains_key(key).then(|| Node::Map(map.remove(key))),
        },
        Node::List(list) => list_leaf(list, key, op).map(Node::List),
        _ => None,
    }
}

fn list_leaf(list: &VectorSync<Node>, key: &str, op: &PatchOp) -> Option<VectorSync<Node>> {
    match op {
        PatchOp::Add { value, .. } => {
            let at = if key == "-" { list.len() } else { index(key)? };
            (at <= list.len()).then(|| {
                let before = list.iter().take(at).cloned();
                before.chain([value.into()]).chain(list.iter().skip(at).cloned()).collect()
            })
        }
        PatchOp::Replace { value, .. } => list.set(index(key)?, value.into()),
        PatchOp::Remove { .. } => {
            let at = index(key)?;
            (at < list.len())
                .then(|| list.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, n)| n.clone()).collect())
        }
    }
}
