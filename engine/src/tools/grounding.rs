//! Grounding: every atomic fact that a model states must have a source.
//!
//! A fact is a number, a name of a field or record, a word with a digit in it (an id, a date, an amount), a capitalised
//! word within a sentence (a name), or a whole value that stands alone in a field. Its sources are the part of the world
//! the tool may read, the call's arguments, the accepted change and the clock. A property marked `derived: true` in the
//! response's schema holds a computed value and is exempt.

use std::collections::HashSet;

use domain::patch::{self, Patch};
use serde_json::Value;

use crate::facts;
use crate::world::{Node, World};

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

    /// What a record may hold by its schema, whatever it is: names of fields and listed values are the author's words.
    pub fn add_vocabulary(&mut self, schema: &Value) {
        match schema {
            Value::Array(items) => items.iter().for_each(|item| self.add_vocabulary(item)),
            Value::Object(map) => map.iter().for_each(|(key, value)| match (key.as_str(), value) {
                ("enum" | "const", value) => self.add(value),
                ("properties", Value::Object(properties)) => properties.iter().for_each(|(name, schema)| {
                    self.values.insert(facts::normal(name));
                    self.add_vocabulary(schema);
                }),
                (_, value) => self.add_vocabulary(value),
            }),
            _ => {}
        }
    }

    pub fn knows(&self, fact: &str) -> bool {
        self.values.contains(fact) || self.words.contains(fact)
    }
}

/// A fact from nowhere, with its place.
pub type Ungrounded = (String, String);

/// The first fact of a response that comes from nowhere.
pub fn ungrounded(response: &Value, returns: Option<&Value>, sources: &Sources) -> Option<Ungrounded> {
    walk(response, returns, sources, "")
}

/// The first fact of a change that comes from nowhere. Names of records are facts too.
pub fn ungrounded_patch(patch: &Patch, world: &World, sources: &Sources) -> Option<Ungrounded> {
    patch.iter().find_map(|op| {
        let place = unknown_key(op.path(), world, sources).map(|key| (op.path().to_owned(), key));
        place.or_else(|| op.value().and_then(|value| walk(value, None, sources, op.path())))
    })
}

/// Segments of a path are names, except places in a list.
fn unknown_key(path: &str, world: &World, sources: &Sources) -> Option<String> {
    let mut parent = String::new();
    patch::segments(path).unwrap_or_default().into_iter().find(|key| {
        let in_list = matches!(world.get(&parent), Some(Node::List(_)));
        parent = patch::join(&parent, key);
        !in_list && !sources.knows(&facts::normal(key))
    })
}

fn walk(value: &Value, schema: Option<&Value>, sources: &Sources, at: &str) -> Option<Ungrounded> {
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
            if property.is_none() && !sources.knows(&facts::normal(key)) {
                return Some((at.to_owned(), key.clone()));
            }
            walk(v, property, sources, &patch::join(at, key))
        }),
        Value::Number(_) => (!sources.knows(&canonical(value))).then(|| (at.to_owned(), value.to_string())),
        Value::String(text) => unknown_in(text, schema, sources).map(|fact| (at.to_owned(), fact)),
    }
}

fn unknown_in(text: &str, schema: Option<&Value>, sources: &Sources) -> Option<String> {
    // The author wrote it; there is nothing to choose.
    if schema.is_some_and(|s| s.get("const").is_some()) || sources.values.contains(&facts::normal(text)) {
        return None;
    }
    // One word alone in a field is a name, a status or a code: it needs a source even without digits.
    if !text.trim().is_empty() && !text.trim().contains(char::is_whitespace) {
        return facts::words(text).find(|w| !sources.knows(w));
    }
    facts::tokens(text).chain(facts::names(text)).find(|fact| !sources.knows(fact))
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
        sources.add(&json!(["id", "say", "title", "hits", "status"]));
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
    fn computed_values_are_exempt_and_listed_ones_are_not() {
        let returns = json!({"properties": {"count": {"derived": true}, "status": {"enum": ["open", "closed"]}}});
        assert_eq!(check(json!({"count": 17}), returns.clone()), None);
        assert_eq!(check(json!({"status": "closed"}), returns), Some(("/status".into(), "closed".into())));
    }

    #[test]
    fn names_and_keys_are_facts() {
        let at = |response| check(response, json!({})).map(|(at, fact)| format!("{at} {fact}"));
        assert_eq!(at(json!({"say": "Please ask Maria about it."})).as_deref(), Some("/say maria"));
        assert_eq!(at(json!({"title": {"emp_9999": true}})).as_deref(), Some("/title emp_9999"));
        assert_eq!(at(json!({"say": "That makes 35,00 or so."})), None);
        assert_eq!(at(json!({"fee": 3500})).as_deref(), Some("/fee 3500"));
    }

    fn check_patch(patch: Value) -> Option<String> {
        let world = World::new(&json!({"tickets": {"100": {"notes": ["hello"]}}}));
        let mut sources = Sources::default();
        sources.add(&world.to_json());
        sources.add(&json!("tkt_1"));
        sources.add_vocabulary(&json!({"properties": {"status": {"enum": ["open"]}, "fee": {"maximum": 5000}}}));
        let patch = serde_json::from_value(patch).expect("a patch");
        ungrounded_patch(&patch, &world, &sources).map(|(at, fact)| format!("{at} {fact}"))
    }

    #[test]
    fn changes_name_only_what_is_there_or_fresh() {
        assert_eq!(check_patch(json!([{"op": "add", "path": "/tickets/tkt_1", "value": {"status": "open"}}])), None);
        assert_eq!(check_patch(json!([{"op": "add", "path": "/tickets/100/notes/1", "value": "hello"}])), None);
        let invented = check_patch(json!([{"op": "add", "path": "/tickets/990017", "value": {}}]));
        assert_eq!(invented.as_deref(), Some("/tickets/990017 990017"));
        let invented = check_patch(json!([{"op": "add", "path": "/tickets/tkt_1", "value": {"ref_9": {}}}]));
        assert_eq!(invented.as_deref(), Some("/tickets/tkt_1 ref_9"));
        let limit = check_patch(json!([{"op": "add", "path": "/tickets/tkt_1", "value": {"fee": 5000}}]));
        assert_eq!(limit.as_deref(), Some("/tickets/tkt_1/fee 5000"));
    }
}
