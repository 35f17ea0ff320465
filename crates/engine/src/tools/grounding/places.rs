//! Where a value stands among what a call is answered from, for authors who ask where an answer has it from.
//!
//! Values are found as [`Sources`](super::Sources) knows them: by what they are, and by the name they go by. What a tool
//! computes of them is not followed.

use std::collections::HashMap;

use domain::patch::join;
use serde_json::{Map, Value};

use super::records::stems;
use super::{canonical, plain};

/// A place that holds a value, as a JSON pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Into the arguments of the call.
    Argument(String),
    /// Into the world.
    Record {
        pointer: String,
        /// How many other places are as likely.
        others: usize,
    },
}

/// What a call is answered from: its arguments, and the records that its tool may read.
#[derive(Debug)]
pub struct Places {
    arguments: Vec<(String, String)>,
    /// Value -> where it stands, in the order of the world.
    records: HashMap<String, Vec<String>>,
    /// Texts of the arguments: they name the records that the call is about.
    named: Vec<String>,
}

impl Places {
    pub fn of_call(view: &Value, arguments: &Map<String, Value>) -> Self {
        let mut places = Self { arguments: Vec::new(), records: HashMap::new(), named: Vec::new() };
        for (name, value) in arguments {
            each(value, &join("", name), &mut |at, value| places.arguments.push((at.to_owned(), canonical(value))));
        }
        each(&Value::Object(arguments.clone()), "", &mut |_, value| places.named.push(plain(value)));
        each(view, "", &mut |at, value| places.records.entry(canonical(value)).or_default().push(at.to_owned()));
        keys(view, "", &mut |at, key| places.records.entry(canonical(&key.into())).or_default().push(at.to_owned()));
        places
    }

    /// Where the value of a field of this name most likely comes from: from what goes by the same name, in a record that
    /// the call names before others.
    pub fn find(&self, name: &str, value: &Value) -> Option<Place> {
        let known = canonical(value);
        let same_name = |at: &str| stems(last(at)) == stems(name);
        let telling = telling(value);
        let arguments = || self.arguments.iter().filter(|(_, value)| *value == known).map(|(at, _)| at);
        if let Some(at) = arguments().find(|at| same_name(at)) {
            return Some(Place::Argument(at.clone()));
        }
        let within = |at: &str, key: &str| at.ends_with(key) || at.contains(&format!("{key}/"));
        let named = |at: &str| self.named.iter().any(|key| within(at, &join("", key)));
        let rank = |at: &str| match (same_name(at), named(at)) {
            (true, true) => 0,
            (true, false) => 1,
            (false, true) => 2,
            (false, false) => 3,
        };
        let ranked: Vec<(u8, &String)> =
            self.records.get(&known).into_iter().flatten().map(|at| (rank(at), at)).collect();
        let record = ranked.iter().min_by_key(|(rank, _)| *rank).map(|(best, at)| {
            let others = ranked.iter().filter(|(rank, _)| rank == best).count() - 1;
            (*best, Place::Record { pointer: (*at).clone(), others })
        });
        if let Some((0 | 1, place)) = record {
            return Some(place);
        }
        // What many things hold is not found by what it is alone.
        let argument = arguments().next().map(|at| Place::Argument(at.clone()));
        argument.or_else(|| record.map(|(_, place)| place)).filter(|_| telling)
    }
}

/// Visits every value that is no list and no map, with its place.
pub fn each<'a>(value: &'a Value, at: &str, visit: &mut impl FnMut(&str, &'a Value)) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| each(item, &join(at, &i.to_string()), visit));
        }
        Value::Object(map) => map.iter().for_each(|(key, value)| each(value, &join(at, key), visit)),
        value => visit(at, value),
    }
}

/// Visits the key of every record.
fn keys<'a>(value: &'a Value, at: &str, visit: &mut impl FnMut(&str, &'a str)) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let place = join(at, key);
        if value.is_object() {
            visit(&place, key);
        }
        keys(value, &place, visit);
    }
}

/// The field that holds a value: a value in a list goes by the list's name.
pub fn last(pointer: &str) -> &str {
    let named = |part: &&str| !part.is_empty() && !part.bytes().all(|b| b.is_ascii_digit());
    pointer.rsplit('/').find(named).unwrap_or_default()
}

/// Whether a value is rare enough to be known by itself: neither yes, no or nothing, nor a number below a hundred.
fn telling(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(number) => number.as_f64().is_none_or(|n| n.fract() != 0.0 || n.abs() >= 100.0),
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(name: &str, value: Value) -> Option<String> {
        let view = json!({
            "orders": {
                "o_17": {"total": 80.0, "status": "open", "paid": true, "lines": [{"sku": "lamp"}], "fee": 120.5},
                "o_19": {"duty": 120.5},
                "o_18": {"total": 80.0, "status": "sent", "paid": true, "note": "lamp"},
            }
        });
        let arguments = json!({"order_id": "o_18", "amount": 20.5, "count": 3});
        let places = Places::of_call(&view, arguments.as_object().expect("an object"));
        places.find(name, &value).map(|place| match place {
            Place::Argument(at) => format!("argument {at}"),
            Place::Record { pointer, others: 0 } => pointer,
            Place::Record { pointer, others } => format!("{pointer} or {others}"),
        })
    }

    #[test]
    fn the_name_and_the_record_that_is_called_decide() {
        for (name, value, expected) in [
            ("total", json!(80), Some("/orders/o_18/total")),
            ("status", json!("open"), Some("/orders/o_17/status")),
            ("order_id", json!("o_18"), Some("argument /order_id")),
            ("refunded", json!(20.5), Some("argument /amount")),
            ("id", json!("o_17"), Some("/orders/o_17")),
            ("what", json!("lamp"), Some("/orders/o_18/note")),
            ("sku", json!("lamp"), Some("/orders/o_17/lines/0/sku")),
            ("cost", json!(120.5), Some("/orders/o_17/fee or 1")),
        ] {
            assert_eq!(found(name, value.clone()).as_deref(), expected, "{name} {value}");
        }
    }

    #[test]
    fn what_many_things_hold_is_known_by_its_name_alone() {
        assert_eq!(found("paid", json!(true)).as_deref(), Some("/orders/o_18/paid"));
        assert_eq!(found("verified", json!(true)), None);
        assert_eq!(found("items", json!(3)), None);
        assert_eq!(found("anything", json!("nowhere")), None);
    }
}
