//! What each change did to the world.

use domain::event::{Event, EventKind};
use domain::patch::Patch;
use serde_json::Value;

/// The change that made a version of the world; the first one made version 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub seq: u32,
    pub tool: String,
    pub patch: Patch,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub pointer: String,
    pub was: Option<Value>,
    pub is: Option<Value>,
}

pub fn steps(events: &[Event]) -> Vec<Step> {
    let step = |event: &Event| match &event.kind {
        EventKind::ToolAnswered { tool, patch, .. } if !patch.is_empty() => {
            Some(Step { seq: event.seq, tool: tool.clone(), patch: patch.clone() })
        }
        _ => None,
    };
    events.iter().filter_map(step).collect()
}

/// The version after an event; the last one if none is named.
pub fn version_at(steps: &[Step], event: Option<u32>) -> usize {
    event.map_or(steps.len(), |event| steps.iter().filter(|step| step.seq <= event).count())
}

/// What a patch changed, each place with its value before and after.
pub fn changes(patch: &Patch, before: &Value, after: &Value) -> Vec<Change> {
    let change = |pointer: &str| Change {
        was: before.pointer(pointer).cloned(),
        is: after.pointer(pointer).cloned(),
        pointer: pointer.to_owned(),
    };
    let mut found: Vec<Change> = Vec::new();
    for op in patch {
        if !found.iter().any(|known| known.pointer == op.path()) {
            found.push(change(op.path()));
        }
    }
    found.retain(|change| change.was != change.is);
    found
}

#[cfg(test)]
mod tests {
    use domain::patch::PatchOp;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_version_is_what_happened_until_then() {
        let step = |seq| Step { seq, tool: "t".to_owned(), patch: Vec::new() };
        let steps = [step(4), step(9)];
        let at = [None, Some(0), Some(3), Some(4), Some(8), Some(9), Some(20)];
        assert_eq!(at.map(|event| version_at(&steps, event)), [2, 0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn a_change_knows_both_values() {
        let (before, after) = (json!({"a": 1, "b": 2}), json!({"a": 3, "c": 4}));
        let patch = vec![
            PatchOp::Replace { path: "/a".to_owned(), value: json!(3) },
            PatchOp::Remove { path: "/b".to_owned() },
            PatchOp::Add { path: "/c".to_owned(), value: json!(4) },
        ];
        let found = changes(&patch, &before, &after);
        let pairs: Vec<_> = found.into_iter().map(|change| (change.was, change.is)).collect();
        assert_eq!(pairs, [(Some(json!(1)), Some(json!(3))), (Some(json!(2)), None), (None, Some(json!(4)))]);
    }
}
