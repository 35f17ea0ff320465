//! As much of something as a prompt has room for.

use domain::document;
use serde_json::{Map, Value, json};

/// The world as YAML, in about so many bytes: every collection with its first records. What was left out is said.
pub fn world(world: &Value, budget: usize) -> String {
    let whole = document::text(world);
    let Some(parts) = world.as_object().filter(|_| whole.len() > budget) else { return whole };
    let mut text = String::new();
    for (i, (name, part)) in parts.iter().enumerate() {
        let room = budget.saturating_sub(text.len()) / (parts.len() - i);
        text += &collection(name, part, room);
    }
    text
}

fn collection(name: &str, part: &Value, room: usize) -> String {
    let whole = document::text(&json!({name: part}));
    if whole.len() <= room {
        return whole;
    }
    let Value::Object(records) = part else { return format!("# {name}: too long to be shown\n") };
    let mut shown = Map::new();
    let mut length = 0;
    for (key, record) in records {
        length += document::text(&json!({name: {key: record}})).len();
        if length > room {
            break;
        }
        shown.insert(key.clone(), record.clone());
    }
    let left = records.len() - shown.len();
    format!("{}# {name}: {left} more, not shown\n", document::text(&json!({name: shown})))
}

/// A text that fits, or a word that it does not.
pub fn text(text: &str, budget: usize) -> &str {
    if text.len() <= budget { text } else { "(too long to be shown)" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_collection_has_its_share() {
        let orders: Map<String, Value> = (0..40).map(|i| (format!("ord_{i}"), json!({"total": i}))).collect();
        let whole = json!({"session": {}, "orders": orders, "rules": "x".repeat(200)});
        assert_eq!(world(&whole, 10_000), document::text(&whole));
        insta::assert_snapshot!(world(&whole, 150), @"
        session: {}
        orders:
          ord_0:
            total: 0
          ord_1:
            total: 1
        # orders: 38 more, not shown
        # rules: too long to be shown
        ");
    }
}
