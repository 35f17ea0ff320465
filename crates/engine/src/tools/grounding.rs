//! Grounding: what a model states must come from somewhere.
//!
//! A tool that a model simulates may state what the records hold that it may read, what the call says, the clock, and
//! what an accepted change brings about. Four rules, each in a file of its own:
//!
//! - *Facts* ([`reading`], [`scope`]): numbers, dates, times, ids and names are compared as values, in whatever form,
//!   script or unit they are written. Each must be in a source.
//! - *Records* ([`records`]): facts belong to records, and records to each other and to people. A part of an answer that
//!   names a record, or answers a call that names one, may state facts of that record and of what hangs together with
//!   it, never those of another one of its kind and never those of somebody else.
//! - *Fields* ([`fields`]): a value under the name of a field is the value of that field; values side by side are side
//!   by side in one record.
//! - *Prose* ([`prose`]): in free text every word is in a source, says the same as one that is, or is ordinary
//!   (`vocabulary.txt`, `synonyms.txt`). Numbers after the name of a field are that field's; counts are counts of records;
//!   words of a list of states are those of the record, and what is denied is not so.
//!
//! A property marked `derived: true` in the response's schema holds a computed value and is exempt.
//!
//! Not decided here, because no program can without refusing truths: claims made of ordinary words and of words of the
//! record alone (`you may get the amount back`), the sense of a text that a `not` turns round, a list that leaves
//! something out, and yes-or-no answers that no record holds.

mod check;
mod dates;
mod fields;
mod numbers;
pub mod places;
mod prose;
mod reading;
mod records;
mod scope;
mod source_index;
mod told_dates;
mod unicode;
mod words;

use std::cell::OnceCell;
use std::collections::HashSet;

use domain::patch::{self, Patch};
use serde_json::{Map, Value};

use crate::facts;
use crate::world::{Node, World};
use check::{Check, plain};
use records::{Facts, Index};
pub use source_index::{SourceIndex, StatedFact};
pub use told_dates::states_date;

/// What may be stated.
#[derive(Default)]
pub struct Sources {
    /// Whole values, canonical, and words within texts.
    known: HashSet<String>,
    /// The records, and their values and words as soon as somebody asks for them.
    view: Value,
    of_view: OnceCell<HashSet<String>>,
    index: Index,
    /// The records that the call names.
    focus: Vec<usize>,
    arguments: Map<String, Value>,
    always: Facts,
    /// Values that a change may give or gave a record, whatever it holds now.
    changes: HashSet<String>,
}

impl Sources {
    /// The records that the tool may read, and what it is called with.
    pub fn of_call(view: Value, arguments: &Map<String, Value>) -> Self {
        let index = Index::new(&view);
        let mut focus: Vec<usize> = Vec::new();
        for value in arguments.values().filter_map(Value::as_str) {
            focus.extend(index.meant_by(value));
        }
        let mut sources = Self { view, index, focus, arguments: arguments.clone(), ..Self::default() };
        sources.add(&Value::Object(arguments.clone()));
        sources
    }

    /// What may be said whatever is spoken of.
    pub fn add(&mut self, value: &Value) {
        add_words(&mut self.known, value);
        self.add_facts(value);
    }

    /// What a change brings about: it may contradict the records as they are.
    pub fn add_change(&mut self, value: &Value) {
        self.add(value);
        match value {
            Value::Array(items) => items.iter().for_each(|v| self.add_change(v)),
            Value::Object(map) => map.values().for_each(|v| self.add_change(v)),
            value => {
                self.changes.insert(plain(value));
            }
        }
    }

    fn add_facts(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|v| self.add_facts(v)),
            Value::Object(map) => map.iter().for_each(|(key, v)| {
                self.always.add_name(key);
                self.add_facts(v);
            }),
            value => {
                self.always.add(value, &[]);
            }
        }
    }

    /// What a record may hold by its schema, whatever it is: names of fields and listed values are the author's words.
    pub fn add_vocabulary(&mut self, schema: &Value) {
        match schema {
            Value::Array(items) => items.iter().for_each(|item| self.add_vocabulary(item)),
            Value::Object(map) => map.iter().for_each(|(key, value)| match (key.as_str(), value) {
                ("enum" | "const", value) => self.add_change(value),
                ("properties", Value::Object(properties)) => properties.iter().for_each(|(name, schema)| {
                    self.known.insert(facts::normal(name));
                    self.always.add_name(name);
                    self.add_vocabulary(schema);
                }),
                (_, value) => self.add_vocabulary(value),
            }),
            _ => {}
        }
    }

    pub fn knows(&self, fact: &str) -> bool {
        let of_view = || {
            let mut known = HashSet::new();
            add_words(&mut known, &self.view);
            known
        };
        self.known.contains(fact) || self.of_view.get_or_init(of_view).contains(fact)
    }
}

fn add_words(known: &mut HashSet<String>, value: &Value) {
    match value {
        Value::Array(items) => items.iter().for_each(|v| add_words(known, v)),
        Value::Object(map) => map.iter().for_each(|(key, v)| {
            known.insert(facts::normal(key));
            add_words(known, v);
        }),
        Value::String(text) => {
            known.insert(facts::normal(text));
            known.extend(facts::words(text));
        }
        other => {
            known.insert(canonical(other));
        }
    }
}

/// A fact from nowhere, with its place.
pub type UngroundedFact = (String, String);

/// The first fact of a response that comes from nowhere.
pub fn ungrounded(response: &Value, returns: Option<&Value>, sources: &Sources) -> Option<UngroundedFact> {
    let check = Check { sources, records: true };
    check.value(response, returns, None, &sources.focus, "")
}

/// The first fact of a change that comes from nowhere. Names of records are facts too.
pub fn ungrounded_patch(patch: &Patch, world: &World, sources: &Sources) -> Option<UngroundedFact> {
    let check = Check { sources, records: false };
    patch.iter().find_map(|op| {
        let place = unknown_key(op.path(), world, sources).map(|key| (op.path().to_owned(), key));
        place.or_else(|| op.value().and_then(|value| check.value(value, None, None, &[], op.path())))
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
        let view =
            json!({"articles": {"art_1": {"title": "Card fees", "fee": 35.0, "text": "A new card costs 7.50 EUR."}}});
        let arguments = json!({"query": "fees"}).as_object().cloned().unwrap_or_default();
        let mut schema = json!({"properties": {"id": {}, "say": {}, "title": {}, "hits": {}, "status": {}}});
        if let (Some(all), Some(own)) = (schema["properties"].as_object_mut(), returns["properties"].as_object()) {
            all.extend(own.clone());
        }
        ungrounded(&response, Some(&schema), &Sources::of_call(view, &arguments))
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
        assert_eq!(at(json!({"say": "It costs 8.50 EUR."})).as_deref(), Some("/say 8.50"));
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
