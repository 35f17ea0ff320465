//! The worlds of a script that was played, from its first world and the patches of its calls.

use domain::patch::{Change, PatchOp, apply};
use domain::transcript::Call;
use serde_json::Value;

/// The world after an event, and what became of it since an earlier one, or since the start: what a sub-agent did comes
/// before the answer that it gave, and belongs to the same step.
pub fn after(world: &Value, calls: &[Call], since: Option<u32>, seq: u32) -> (Value, Vec<Change>) {
    let mut world = world.clone();
    let before = |call: &Call| since.is_some_and(|since| call.seq <= since);
    let until = calls.iter().filter(|call| call.seq <= seq);
    let (known, own): (Vec<&Call>, Vec<&Call>) = until.partition(|call| before(call));
    apply(&mut world, ops(&known));
    let changes = apply(&mut world, ops(&own));
    (world, changes)
}

fn ops<'a>(calls: &[&'a Call]) -> impl Iterator<Item = &'a PatchOp> {
    calls.iter().flat_map(|call| &call.patch)
}

#[cfg(test)]
mod tests {
    use domain::event::Answer;
    use domain::transcript::Caller;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_step_holds_what_its_sub_agent_changed() {
        let answered = |seq, patch: Value| Call {
            seq,
            id: String::new(),
            tool: "t".to_owned(),
            arguments: String::new(),
            caller: Caller::Agent,
            turn: 1,
            answer: Answer::Succeeded,
            content: String::new(),
            patch: serde_json::from_value(patch).unwrap(),
            fault: None,
            note: None,
        };
        let calls = [
            answered(2, json!([{"op": "replace", "path": "/a/state", "value": "held"}])),
            answered(5, json!([{"op": "replace", "path": "/a/state", "value": "sent"}])),
            answered(6, json!([{"op": "remove", "path": "/a/held"}])),
            answered(7, json!([])),
            answered(9, json!([{"op": "add", "path": "/b", "value": 1}])),
        ];
        let world = json!({"a": {"state": "open", "held": true}});
        let change = |pointer: &str, was, is| Change { pointer: pointer.to_owned(), was, is };
        assert_eq!(after(&world, &calls, None, 1), (world.clone(), Vec::new()));
        let first = change("/a/state", Some(json!("open")), Some(json!("held")));
        assert_eq!(after(&world, &calls, None, 2).1, [first]);
        let inner =
            [change("/a/state", Some(json!("held")), Some(json!("sent"))), change("/a/held", Some(json!(true)), None)];
        assert_eq!(after(&world, &calls, Some(2), 7), (json!({"a": {"state": "sent"}}), inner.to_vec()));
    }
}
