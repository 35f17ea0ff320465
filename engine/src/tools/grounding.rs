//! Grounding: every atomic fact that a model states must have a source.
//!
//! A fact is a number, or a word with a digit in it (an id, a date, an amount), or a whole value that stands alone in
//! a field. Its sources are the part of the world the tool may read, the call's arguments, the accepted change and the
//! clock. A property marked `derived: true` in the response's schema holds a computed value and is exempt.

use std::collections::HashSet;

use serde_json::Value;

use crate::facts;
use crate::world::Node;

/// What may be stated.
#[derive(Default)]
pub struct Sources {
    /// Whole values, canonical.
    values: HashSet<String>,
    /// Words within texts.
    words: HashSet<String>,
}

impl Sources {
    pub fn add(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|v| self.add(v)),
            Value::Object(map) => map.iter().for_each(|(key, v)| {
                self.values.insert(facts::normal(key));
                self.add(v);
            }),
            Value::String(text) => {
                self.values.insert(facts::normal(text));
                self.words.extend(facts::words(text));
            }
            other => {
                self.values.insert(canonical(other));
                self.words.insert(canonical(other));
            }
        }
    }

    pub fn knows(&self, fact: &str) -> bool {
        self.values.contains(fact) || self.words.contains(fact)
    }
}

/// The first fact of a response that comes from nowhere, as its place and text.
pub fn ungrounded(response: &Value, returns: Option<&Value>, sources: &Sources) -> Option<(String, String)> {
    walk(response, returns, sources, "")
}

fn walk(value: &Value, schema: Option<&Value>, sources: &Sources, at: &str) -> Option<(String, String)> {
    if schema.and_then(|s| s.get("derived")).and_then(Value::as_bool) == Some(true) {
        return None;
    }
    match value {
        Value::Null | Value::Bool(_) => None,
        Value::Array(items) => {
            let item = schema.and_then(|s| s.get("items"));
            items.iter().enumerate().find_map(|(i, v)| walk(v, item, sources, &format!("{at}/{i}")))
        }
        Value::Object(map) => map.iter().find_map(|(key, v)| {
            let property = schema.and_then(|s| s.get("properties")).and_then(|p| p.get(key));
            walk(v, property, sources, &domain::patch::join(at, key))
        }),
        Value::Number(_) => (!sources.knows(&canonical(value))).then(|| (at.to_owned(), value.to_string())),
        Value::String(text) => unknown_in(text, schema, sources).map(|fact| (at.to_owned(), fact)),
    }
}

fn unknown_in(text: &str, schema: Option<&Value>, sources: &Sources) -> Option<String> {
    let listed = schema.is_some_and(|s| s.get("const").is_some() || s.get("enum").is_some());
    if listed || sources.values.contains(&facts::normal(text)) {
        return None;
    }
    // One word alone in a field is a name, a status or a code: it needs a source even without digits.
    if !text.trim().is_empty() && !text.trim().contains(char::is_whitespace) {
        return facts::words(text).find(|w| !sources.knows(w));
    }
    facts::tokens(text).find(|fact| !sources.knows(fact))
}

fn canonical(value: &Value) -> String {
    let mut out = String::new();
    Node::from(value).write_canonical(&mut |text| out.push_str(text));
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(response: Value, returns: Value) -> Option<(String, String)> {
        let mut sources = Sources::default();
        sources.add(
            &json!({"articles": {"art_1": {"title": "Card fees", "fee": 35.0, "text": "A new card costs 7.50 EUR."}}}),
        );
        sources.add(&json!({"query": "fees"}));
        ungrounded(&response, Some(&returns), &sources)
    }

    #[test]
    fn facts_of_the_world_may_be_stated_in_other_words() {
        assert_eq!(check(json!({"id": "art_1", "fee": 35, "say": "It will cost you 7.50 euros."}), json!({})), None);
        assert_eq!(check(json!({"title": "CARD FEES"}), json!({})), None);
    }

    #[test]
    fn inventions_are_named_with_their_place() {
        let at = |response| check(response, json!({})).map(|(at, fact)| format!("{at} {fact}"));
        assert_eq!(at(json!({"id": "art_2"})).as_deref(), Some("/id art_2"));
        assert_eq!(at(json!({"hits": [{"fee": 35.01}]})).as_deref(), Some("/hits/0/fee 35.01"));
        assert_eq!(at(json!({"say": "It costs 8.50 EUR."})).as_deref(), Some("/say 8.5"));
        assert_eq!(at(json!({"status": "premium"})).as_deref(), Some("/status premium"));
    }

    #[test]
    fn computed_and_listed_values_are_exempt() {
        let returns = json!({"properties": {"count": {"derived": true}, "kind": {"enum": ["faq"]}}});
        assert_eq!(check(json!({"count": 17, "kind": "faq"}), returns), None);
    }
}
