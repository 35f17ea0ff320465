//! Where a value of the world comes from: which change wrote it, or whether it was there from the start.

use domain::patch::{self, Patch, PatchOp, index};

use super::node::Node;
use super::{PatchError, World};

/// Changes that were made one after the other, each with the world before it.
pub struct History<'a, C> {
    steps: Vec<(C, &'a PatchOp, World)>,
}

impl<'a, C: Copy> History<'a, C> {
    /// # Errors
    /// A change that does not apply.
    pub fn of(initial: &World, changes: &[(C, &'a Patch)]) -> Result<Self, PatchError> {
        let mut world = initial.clone();
        let mut steps = Vec::new();
        for (cause, patch) in changes {
            for op in *patch {
                let next = world.apply(std::slice::from_ref(op))?;
                steps.push((*cause, op, std::mem::replace(&mut world, next)));
            }
        }
        Ok(Self { steps })
    }

    /// Which of the changes wrote what stands at `pointer` after all of them; `None`: it was there from the start.
    ///
    /// A value that was written as part of a larger one (a record, a list) was written by that change. Of a map or list
    /// it is the last change anywhere within.
    ///
    /// # Errors
    /// No JSON pointer.
    pub fn writer(&self, pointer: &str) -> Result<Option<C>, PatchError> {
        let mut path = patch::segments(pointer).ok_or_else(|| PatchError::BadPointer(pointer.to_owned()))?;
        for (cause, op, before) in self.steps.iter().rev() {
            match backwards(op, before, &path) {
                Some(earlier) => path = earlier,
                None => return Ok(Some(*cause)),
            }
        }
        Ok(None)
    }
}

/// Where a value stood before an operation; `None` if the operation wrote it.
fn backwards(op: &PatchOp, before: &World, path: &[String]) -> Option<Vec<String>> {
    let place = patch::segments(op.path()).unwrap_or_default();
    let (key, parent) = place.split_last()?;
    if let (Some(Node::List(list)), true) =
        (before.root().get(parent), path.starts_with(parent) && path.len() >= place.len())
    {
        return moved(op, key, list.len(), path, parent.len());
    }
    let overlap = path.starts_with(&place) || place.starts_with(path);
    (!overlap).then(|| path.to_vec())
}

/// In a list, what stands behind an item that is added or removed moves.
fn moved(op: &PatchOp, key: &str, length: usize, path: &[String], at: usize) -> Option<Vec<String>> {
    let place = if key == "-" { length } else { index(key)? };
    let own = index(&path[at])?;
    let earlier = match op {
        PatchOp::Add { .. } | PatchOp::Replace { .. } if own == place => return None,
        PatchOp::Add { .. } if own > place => own - 1,
        PatchOp::Remove { .. } if own >= place => own + 1,
        _ => own,
    };
    let mut path = path.to_vec();
    path[at] = earlier.to_string();
    Some(path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(pointer: &str) -> Option<u32> {
        let initial = World::new(&json!({"cards": {"c1": {"status": "active", "limit": 5}}, "log": ["a", "b"]}));
        let patches = [
            json!([{"op": "replace", "path": "/cards/c1/status", "value": "blocked"}]),
            json!([{"op": "add", "path": "/cards/c2", "value": {"status": "ordered", "limit": 1}}]),
            json!([{"op": "add", "path": "/log/0", "value": "first"}, {"op": "add", "path": "/log/-", "value": "last"}]),
            json!([{"op": "replace", "path": "/cards/c2/limit", "value": 2}, {"op": "remove", "path": "/log/1"}]),
            json!([{"op": "remove", "path": "/cards/c1/limit"}, {"op": "add", "path": "/cards/c1/limit", "value": 5}]),
        ];
        let patches = patches.map(|patch| serde_json::from_value::<Patch>(patch).expect("a patch"));
        let changes: Vec<(u32, &Patch)> = (1..).zip(&patches).collect();
        History::of(&initial, &changes).and_then(|history| history.writer(pointer)).expect("they apply")
    }

    #[test]
    fn a_value_was_written_by_the_last_change_that_wrote_it() {
        assert_eq!(written("/cards/c1/status"), Some(1));
        assert_eq!(written("/cards/c1/limit"), Some(5));
        assert_eq!(written("/cards/c2/status"), Some(2));
        assert_eq!(written("/cards/c2/limit"), Some(4));
        assert_eq!(written("/cards/c2"), Some(4));
    }

    #[test]
    fn items_of_a_list_are_followed() {
        // [a, b] -> [first, a, b, last] -> [first, b, last]
        assert_eq!(["/log/0", "/log/1", "/log/2"].map(written), [Some(3), None, Some(3)]);
    }
}
