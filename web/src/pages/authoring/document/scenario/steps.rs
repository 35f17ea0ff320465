//! The worlds of a script that was played, from its first world and the patches of its calls.

use domain::event::{Event, EventKind};
use domain::patch::{Change, PatchOp, apply};
use serde_json::Value;

/// The world after an event, and what became of it since an earlier one, or since the start: what a sub-agent did comes
/// before the answer that it gave, and belongs to the same step.
pub fn after(world: &Value, events: &[Event], since: Option<u32>, seq: u32) -> (Value, Vec<Change>) {
    let mut world = world.clone();
    let before = |event: &Event| since.is_some_and(|since| event.seq <= since);
    let until = events.iter().filter(|event| event.seq <= seq);
    let (known, own): (Vec<&Event>, Vec<&Event>) = until.partition(|event| before(event));
    apply(&mut world, ops(&known));
    let changes = apply(&mut world, ops(&own));
    (world, changes)
}

fn ops<'a>(events: &[&'a Event]) -> impl Iterator<Item = &'a PatchOp> {
    events.iter().flat_map(|event| match &event.kind {
        EventKind::ToolAnswered { patch, .. } => patch.as_slice(),
        _ => &[],
    })
}

#[cfg(test)]
mod tests {
    use domain::event::{Answer, Usage};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_step_holds_what_its_sub_agent_changed() {
        let answered = |seq, patch: Value| Event {
            seq,
            ancestry: Vec::new(),
            kind: EventKind::ToolAnswered {
                call_id: String::new(),
                tool: "t".to_owned(),
                content: String::new(),
                answer: Answer::Succeeded,
                patch: serde_json::from_value(patch).unwrap(),
                fault: None,
                note: None,
                usage: Usage::default(),
            },
        };
        let events = [
            answered(2, json!([{"op": "replace", "path": "/a/state", "value": "held"}])),
            answered(5, json!([{"op": "replace", "path": "/a/state", "value": "sent"}])),
            answered(6, json!([{"op": "remove", "path": "/a/held"}])),
            answered(7, json!([])),
            answered(9, json!([{"op": "add", "path": "/b", "value": 1}])),
        ];
        let world = json!({"a": {"state": "open", "held": true}});
        let change = |pointer: &str, was, is| Change { pointer: pointer.to_owned(), was, is };
        assert_eq!(after(&world, &events, None, 1), (world.clone(), Vec::new()));
        let first = change("/a/state", Some(json!("open")), Some(json!("held")));
        assert_eq!(after(&world, &events, None, 2).1, [first]);
        let inner =
            [change("/a/state", Some(json!("held")), Some(json!("sent"))), change("/a/held", Some(json!(true)), None)];
        assert_eq!(after(&world, &events, Some(2), 7), (json!({"a": {"state": "sent"}}), inner.to_vec()));
    }
}
