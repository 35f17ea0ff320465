//! The worlds of a script that was played, from its first world and the patches of its calls.

use domain::event::{Event, EventKind};
use domain::patch::{Patch, PatchOp, segments};
use serde_json::Value;

/// The world after an event, and what the last patch until then changed.
pub fn after(world: &Value, events: &[Event], seq: u32) -> (Value, Vec<String>) {
    let (mut world, mut changed) = (world.clone(), Vec::new());
    for event in events.iter().filter(|event| event.seq <= seq) {
        let EventKind::ToolAnswered { patch, .. } = &event.kind else { continue };
        apply(&mut world, patch);
        if event.seq == seq {
            changed.extend(patch.iter().map(|op| op.path().to_owned()));
        }
    }
    (world, changed)
}

/// The patches come from the server, which has applied them: what does not fit is left out.
fn apply(world: &mut Value, patch: &Patch) {
    for op in patch {
        let Some(mut path) = segments(op.path()) else { continue };
        let Some(last) = path.pop() else {
            if let PatchOp::Add { value, .. } | PatchOp::Replace { value, .. } = op {
                *world = value.clone();
            }
            continue;
        };
        let parent = path.iter().try_fold(&mut *world, |at, segment| child(at, segment));
        match (parent, op) {
            (Some(Value::Object(map)), PatchOp::Add { value, .. } | PatchOp::Replace { value, .. }) => {
                map.insert(last, value.clone());
            }
            (Some(Value::Object(map)), PatchOp::Remove { .. }) => drop(map.remove(&last)),
            (Some(Value::Array(items)), op) => in_list(items, &last, op),
            _ => {}
        }
    }
}

fn in_list(items: &mut Vec<Value>, at: &str, op: &PatchOp) {
    let index = if at == "-" { Some(items.len()) } else { at.parse().ok() };
    match (index, op) {
        (Some(index), PatchOp::Add { value, .. }) if index <= items.len() => items.insert(index, value.clone()),
        (Some(index), PatchOp::Replace { value, .. }) if index < items.len() => items[index] = value.clone(),
        (Some(index), PatchOp::Remove { .. }) if index < items.len() => drop(items.remove(index)),
        _ => {}
    }
}

fn child<'a>(value: &'a mut Value, segment: &str) -> Option<&'a mut Value> {
    match value {
        Value::Object(map) => map.get_mut(segment),
        Value::Array(items) => items.get_mut(segment.parse::<usize>().ok()?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn patches_lead_to_the_next_world() {
        let mut world = json!({"orders": {"a": {"state": "open"}}, "log": [1]});
        let patch: Patch = serde_json::from_value(json!([
            {"op": "replace", "path": "/orders/a/state", "value": "sent"},
            {"op": "add", "path": "/orders/b", "value": {}},
            {"op": "add", "path": "/log/-", "value": 2},
            {"op": "remove", "path": "/log/0"},
        ]))
        .unwrap();
        apply(&mut world, &patch);
        assert_eq!(world, json!({"orders": {"a": {"state": "sent"}, "b": {}}, "log": [2]}));
    }
}
