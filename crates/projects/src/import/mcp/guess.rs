//! Where in the world a tool works, guessed from its name and its annotations: `get_order` reads a record of `orders`.

use rmcp::model::Tool;
use serde_json::Value;

use crate::names;

const READS: [&str; 14] = [
    "get", "list", "search", "find", "read", "show", "describe", "fetch", "query", "lookup", "count", "check", "view",
    "browse",
];
const CREATES: [&str; 10] = ["create", "add", "open", "new", "book", "place", "submit", "send", "insert", "register"];
const CHANGES: [&str; 16] = [
    "update", "delete", "remove", "set", "change", "edit", "cancel", "close", "move", "rename", "assign", "write",
    "modify", "patch", "archive", "put",
];
/// What follows them says how, not what.
const PREPOSITIONS: [&str; 9] = ["by", "for", "of", "in", "from", "to", "with", "and", "on"];

pub struct Places {
    pub reads: Vec<String>,
    pub writes: Vec<String>,
}

/// A hint of the server outweighs the name. Neither is a promise; the author looks at both.
pub fn places(tool: &Tool, parameters: &Value) -> Places {
    let part = part(&tool.name);
    let verb = verb(&names::words(&tool.name)).unwrap_or_default();
    let here = key(&part, parameters).map_or_else(|| format!("/{part}"), |key| format!("/{part}/{{{key}}}"));
    let hints = tool.annotations.clone().unwrap_or_default();
    if hints.read_only_hint.unwrap_or(READS.contains(&verb.as_str())) {
        return Places { reads: vec![here], writes: Vec::new() };
    }
    let creates = CREATES.contains(&verb.as_str()) || hints.destructive_hint == Some(false);
    let write = match here.ends_with('}') {
        true if !CREATES.contains(&verb.as_str()) => here,
        _ if creates => format!("/{part}/+"),
        _ => format!("/{part}/*"),
    };
    Places { reads: Vec::new(), writes: vec![write] }
}

/// The part of the world that a tool of this name works on.
pub fn part(name: &str) -> String {
    let words = names::words(name);
    let Some(verb) = verb(&words) else { return "records".to_owned() };
    let things = words.into_iter().filter(|word| *word != verb);
    let things: Vec<String> = things.take_while(|word| !PREPOSITIONS.contains(&word.as_str())).collect();
    if things.is_empty() { "records".to_owned() } else { names::plural(&things.join("_")) }
}

/// What is done: `get_order`, `orders.get`.
fn verb(words: &[String]) -> Option<String> {
    let known = |word: &&String| [&READS[..], &CREATES, &CHANGES].iter().any(|verbs| verbs.contains(&word.as_str()));
    words.first().filter(known).or_else(|| words.last().filter(known)).cloned()
}

/// The argument that names a record.
fn key(part: &str, parameters: &Value) -> Option<String> {
    let one = names::singular(part);
    let required = parameters["required"].as_array()?;
    let mut names = required.iter().filter_map(Value::as_str);
    let names_it = |name: &&str| {
        let words = names::words(name).join("_");
        words == "id" || words == format!("{one}_id") || words == one
    };
    names.find(names_it).filter(|name| names::valid(name) == *name).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rmcp::model::ToolAnnotations;
    use serde_json::json;

    use super::*;

    fn guessed(name: &'static str, hints: ToolAnnotations, required: &[&str]) -> String {
        let parameters = json!({"type": "object", "required": required});
        let tool = Tool::new(name, "", Arc::new(serde_json::Map::new())).with_annotations(hints);
        let places = places(&tool, &parameters);
        format!("reads {:?} writes {:?}", places.reads, places.writes).replace('"', "")
    }

    #[test]
    fn by_name_and_by_hint() {
        let none = ToolAnnotations::default;
        for (name, hints, required, expected) in [
            ("get_order", none(), &["order_id"][..], "reads [/orders/{order_id}] writes []"),
            ("listOrders", none(), &[], "reads [/orders] writes []"),
            ("orders.get", none(), &["id"], "reads [/orders/{id}] writes []"),
            ("create-order", none(), &["order_id"], "reads [] writes [/orders/+]"),
            ("cancel_order", none(), &["orderId"], "reads [] writes [/orders/{orderId}]"),
            ("update_order_for_user", none(), &[], "reads [] writes [/orders/*]"),
            ("frobnicate", none(), &[], "reads [] writes [/records/*]"),
            ("frobnicate", none().read_only(true), &[], "reads [/records] writes []"),
            ("get_order", none().read_only(false), &[], "reads [] writes [/orders/*]"),
            ("log_call", none().destructive(false), &[], "reads [] writes [/records/+]"),
            ("get", none(), &["{{ x }}"], "reads [/records] writes []"),
        ] {
            assert_eq!(guessed(name, hints, required), expected, "{name}");
        }
    }
}
