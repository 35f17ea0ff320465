//! What a patch does to a document that is held as plain JSON: the document afterwards, and each change with both values.

use std::mem;

use serde_json::{Map, Value};

use super::{PatchOp, index, join, segments};

/// A place whose value became another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Where the value stands; of what was removed, where it stood.
    pub pointer: String,
    /// Absent: it was added.
    pub was: Option<Value>,
    /// Absent: it was removed.
    pub is: Option<Value>,
}

/// Applies what was applied before, such as the patches of events: an operation that does not fit is passed over. Gives
/// what it changed, in order; a place that changed again is told once.
pub fn apply<'a>(document: &mut Value, patch: impl IntoIterator<Item = &'a PatchOp>) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for change in patch.into_iter().filter_map(|op| step(document, op)) {
        // In a list the same place may hold another value by now; then it is another change.
        let same = |known: &&mut Change| known.pointer == change.pointer && known.is == change.was;
        match changes.iter_mut().rfind(same) {
            Some(known) => known.is = change.is,
            None => changes.push(change),
        }
    }
    changes.retain(|change| change.was != change.is);
    changes
}

/// One operation; `None` if it does not fit. As in a world, the whole document cannot be replaced.
fn step(document: &mut Value, op: &PatchOp) -> Option<Change> {
    let mut path = segments(op.path())?;
    let last = path.pop()?;
    let parent = path.iter().try_fold(document, |at, segment| child(at, segment))?;
    let (place, was) = match parent {
        Value::Object(record) => in_record(record, last, op)?,
        Value::Array(list) => in_list(list, &last, op)?,
        _ => return None,
    };
    let above = path.iter().fold(String::new(), |above, segment| join(&above, segment));
    Some(Change { pointer: join(&above, &place), was, is: op.value().cloned() })
}

fn child<'a>(value: &'a mut Value, segment: &str) -> Option<&'a mut Value> {
    match value {
        Value::Object(record) => record.get_mut(segment),
        Value::Array(list) => list.get_mut(index(segment)?),
        _ => None,
    }
}

/// Gives the place, and what stood there before.
fn in_record(record: &mut Map<String, Value>, key: String, op: &PatchOp) -> Option<(String, Option<Value>)> {
    let was = match op {
        PatchOp::Add { value, .. } => record.insert(key.clone(), value.clone()),
        PatchOp::Replace { value, .. } => Some(mem::replace(record.get_mut(&key)?, value.clone())),
        PatchOp::Remove { .. } => Some(record.shift_remove(&key)?),
    };
    Some((key, was))
}

/// The same; the place is a number. What an insertion moves on stays in the list: nothing is lost there.
fn in_list(list: &mut Vec<Value>, key: &str, op: &PatchOp) -> Option<(String, Option<Value>)> {
    let at = if key == "-" { list.len() } else { index(key)? };
    let was = match op {
        PatchOp::Add { value, .. } if at <= list.len() => {
            list.insert(at, value.clone());
            None
        }
        PatchOp::Replace { value, .. } => Some(mem::replace(list.get_mut(at)?, value.clone())),
        PatchOp::Remove { .. } if at < list.len() => Some(list.remove(at)),
        PatchOp::Add { .. } | PatchOp::Remove { .. } => return None,
    };
    Some((at.to_string(), was))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Pointer, value before, value after.
    type ValueChange<'a> = (&'a str, Option<Value>, Option<Value>);

    #[track_caller]
    fn check(mut document: Value, patch: Value, after: &Value, expected: &[ValueChange]) {
        let patch: Vec<PatchOp> = serde_json::from_value(patch).unwrap();
        let changes = apply(&mut document, &patch);
        assert_eq!(document, *after);
        let told: Vec<ValueChange> =
            changes.iter().map(|change| (change.pointer.as_str(), change.was.clone(), change.is.clone())).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn a_change_knows_both_values() {
        check(
            json!({"orders": {"a": {"state": "open", "held": 1}}}),
            json!([
                {"op": "replace", "path": "/orders/a/state", "value": "sent"},
                {"op": "remove", "path": "/orders/a/held"},
                {"op": "add", "path": "/orders/b~1c", "value": {}},
            ]),
            &json!({"orders": {"a": {"state": "sent"}, "b/c": {}}}),
            &[
                ("/orders/a/state", Some(json!("open")), Some(json!("sent"))),
                ("/orders/a/held", Some(json!(1)), None),
                ("/orders/b~1c", None, Some(json!({}))),
            ],
        );
    }

    #[test]
    fn places_in_a_list_are_told_by_their_number() {
        check(
            json!({"log": [1, 2, 3]}),
            json!([
                {"op": "add", "path": "/log/-", "value": 4},
                {"op": "add", "path": "/log/-", "value": 5},
                {"op": "remove", "path": "/log/0"},
                {"op": "remove", "path": "/log/0"},
                {"op": "add", "path": "/log/1", "value": 9},
            ]),
            &json!({"log": [3, 9, 4, 5]}),
            &[
                ("/log/3", None, Some(json!(4))),
                ("/log/4", None, Some(json!(5))),
                ("/log/0", Some(json!(1)), None),
                ("/log/0", Some(json!(2)), None),
                ("/log/1", None, Some(json!(9))),
            ],
        );
    }

    #[test]
    fn what_changed_twice_is_told_once_and_what_changed_back_not_at_all() {
        check(
            json!({"a": 1, "b": 1}),
            json!([
                {"op": "replace", "path": "/a", "value": 2},
                {"op": "replace", "path": "/b", "value": 2},
                {"op": "replace", "path": "/a", "value": 3},
                {"op": "replace", "path": "/b", "value": 1},
                {"op": "add", "path": "/c", "value": 1},
                {"op": "remove", "path": "/c"},
            ]),
            &json!({"a": 3, "b": 1}),
            &[("/a", Some(json!(1)), Some(json!(3)))],
        );
    }

    #[test]
    fn what_does_not_fit_changes_nothing() {
        let before = json!({"a": 1, "l": [1]});
        check(
            before.clone(),
            json!([
                {"op": "replace", "path": "", "value": {}},
                {"op": "replace", "path": "/b", "value": 1},
                {"op": "remove", "path": "/b"},
                {"op": "add", "path": "/a/b", "value": 1},
                {"op": "add", "path": "/l/2", "value": 1},
                {"op": "remove", "path": "/l/-"},
                {"op": "replace", "path": "/l/00", "value": 2},
            ]),
            &before,
            &[],
        );
    }
}
