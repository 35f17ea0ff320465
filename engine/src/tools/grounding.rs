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

mod dates;
mod fields;
mod heard;
mod numbers;
pub mod places;
mod prose;
mod reading;
mod records;
mod scope;
mod unicode;
mod words;

use std::cell::OnceCell;
use std::collections::HashSet;

use domain::patch::{self, Patch};
use serde_json::{Map, Value};

use crate::facts;
use crate::world::{Node, World};
pub use heard::{Heard, Stated};
use records::{Facts, Index};
use scope::Scope;

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
pub type Ungrounded = (String, String);

/// The first fact of a response that comes from nowhere.
pub fn ungrounded(response: &Value, returns: Option<&Value>, sources: &Sources) -> Option<Ungrounded> {
    let check = Check { sources, records: true };
    check.value(response, returns, None, &sources.focus, "")
}

/// The first fact of a change that comes from nowhere. Names of records are facts too.
pub fn ungrounded_patch(patch: &Patch, world: &World, sources: &Sources) -> Option<Ungrounded> {
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

struct Check<'a> {
    sources: &'a Sources,
    /// Whether values must be those of the records; a change may make them others.
    records: bool,
}

impl Check<'_> {
    fn value(
        &self,
        value: &Value,
        schema: Option<&Value>,
        name: Option<&str>,
        focus: &[usize],
        at: &str,
    ) -> Option<Ungrounded> {
        let says = |keyword| schema.and_then(|s: &Value| s.get(keyword));
        // Computed, or written by the author: there is nothing to choose.
        if says("derived").and_then(Value::as_bool) == Some(true) || says("const").is_some() {
            return None;
        }
        match value {
            Value::Null => None,
            Value::Array(items) if items.is_empty() => {
                self.denied(name, focus).then(|| (at.to_owned(), "[]".to_owned()))
            }
            Value::Array(items) => {
                let item = says("items");
                items.iter().enumerate().find_map(|(i, v)| self.value(v, item, name, focus, &format!("{at}/{i}")))
            }
            Value::Object(map) => self.object(map, schema, name, focus, at),
            scalar => self.scalar(scalar, name, focus).map(|fact| (at.to_owned(), fact)),
        }
    }

    fn object(
        &self,
        map: &Map<String, Value>,
        schema: Option<&Value>,
        name: Option<&str>,
        focus: &[usize],
        at: &str,
    ) -> Option<Ungrounded> {
        let index = &self.sources.index;
        let mut named = self.named(map);
        // Parts of a record that go by the same name in another one are not meant; there must be one that is.
        let part = |n: &usize| self.records && index.is_part_elsewhere(*n, focus);
        let elsewhere: Vec<usize> = named.iter().filter(|n| part(n)).copied().collect();
        named.retain(|n| !part(n));
        let listed = |n: &usize| index.records[*n].kind.rsplit('/').next() == name;
        if let Some(wrong) = elsewhere.iter().find(|n| listed(n) && !named.iter().any(listed)) {
            return Some((at.to_owned(), index.records[*wrong].key.clone().unwrap_or_default()));
        }
        if let Some(wrong) = named.iter().find(|n| self.records && index.is_foreign(**n, &self.sources.focus)) {
            return Some((at.to_owned(), index.records[*wrong].key.clone().unwrap_or_default()));
        }
        let primary: Vec<usize> = named
            .iter()
            .filter(|n| !named.iter().any(|m| m != *n && index.records[*m].above.contains(n)))
            .copied()
            .collect();
        let mut here = index.refocus(focus, &named);
        here.sort_by_key(|record| !primary.contains(record));
        if self.records && primary.is_empty() {
            let scope = Scope::new(index, here.clone(), &self.sources.always);
            let pairs: Vec<(&String, &Value)> =
                map.iter().filter(|(_, v)| is_short(v) && !self.sources.changes.contains(&plain(v))).collect();
            if !fields::in_one_record(&scope, &pairs) {
                return Some((at.to_owned(), Value::Object(map.clone()).to_string()));
            }
        }
        map.iter().find_map(|(key, v)| {
            let property = schema.and_then(|s| s.get("properties")).and_then(|p| p.get(key));
            let place = patch::join(at, key);
            let keyed: Vec<usize> = index.keyed(key).collect();
            if property.is_none() && keyed.is_empty() && !self.is_name(key) {
                return Some((at.to_owned(), key.clone()));
            }
            // At the top of an answer, what the call names is what the answer is about.
            let asked = self.sources.arguments.get(key).and_then(Value::as_str);
            if let (true, "", Some(asked), Some(said)) = (self.records, at, asked, v.as_str())
                && !asked.eq_ignore_ascii_case(said)
                && index.keyed(said).next().is_some()
            {
                return Some((place, said.to_owned()));
            }
            let focus = if keyed.is_empty() { here.clone() } else { index.refocus(&here, &keyed) };
            self.value(v, property, Some(key), &focus, &place)
        })
    }

    /// Records whose keys are values of an object.
    fn named(&self, map: &Map<String, Value>) -> Vec<usize> {
        map.values().filter_map(Value::as_str).flat_map(|text| self.sources.index.keyed(text)).collect()
    }

    /// A name of a field. Values and words of texts are none.
    fn is_name(&self, key: &str) -> bool {
        if !self.records {
            return self.sources.knows(&facts::normal(key));
        }
        let wanted = records::stems(key);
        let mut fields = self.sources.index.records.iter().flat_map(|r| &r.fields);
        fields.any(|f| f.name == wanted || f.path == wanted)
            || self
                .sources
                .index
                .records
                .iter()
                .any(|r| r.kind.rsplit('/').any(|part| part == key) || r.key.as_deref() == Some(key))
            || self.sources.arguments.contains_key(key)
            || matches!(wanted.as_slice(), [kind, id] if id == "id" && self.sources.index.kinds.iter().any(|(name, _)| name == kind))
            || self.sources.changes.contains(key)
    }

    fn scalar(&self, value: &Value, name: Option<&str>, focus: &[usize]) -> Option<String> {
        let changed = self.sources.changes.contains(&plain(value));
        if changed || (!self.records && value.is_boolean()) {
            return None;
        }
        let scope = if self.records {
            Scope::new(&self.sources.index, focus.to_vec(), &self.sources.always)
        } else {
            Scope {
                index: &self.sources.index,
                focus: Vec::new(),
                within: (0..self.sources.index.records.len()).collect(),
                always: &self.sources.always,
            }
        };
        let shown = || value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let tokens = match value {
            Value::String(text) => reading::read(text),
            _ => Vec::new(),
        };
        if let (true, Some(name)) = (self.records, name)
            && self.sources.arguments.get(name) != Some(value)
            && fields::allowed(&scope, name, value) == Some(false)
            && tokens.len() < 4
        {
            return Some(shown());
        }
        match value {
            Value::Number(_) => {
                let number = numbers::Number::plain(records::canonical(value));
                (!scope.has_number(&number)).then(shown)
            }
            // One word alone in a field is a name, a status or a code: ordinary or not, it needs a source.
            Value::String(_) if tokens.len() == 1 => tokens
                .iter()
                .find(|t| !scope.has_fact(&t.fact, &t.raw))
                .filter(|_| !self.whole(value))
                .map(|t| t.raw.to_string()),
            Value::String(_) if self.whole_here(&scope, value) => None,
            Value::String(_) => prose::unknown(&tokens, &scope),
            _ => None,
        }
    }

    /// The author's or the caller's own words.
    fn whole(&self, value: &Value) -> bool {
        self.sources.arguments.values().any(|known| known == value)
    }

    fn whole_here(&self, scope: &Scope<'_>, value: &Value) -> bool {
        self.whole(value) || scope.fields().any(|field| field.value == *value)
    }

    /// Whether an empty list denies records that the call asks for by nothing but the record that they belong to.
    fn denied(&self, name: Option<&str>, focus: &[usize]) -> bool {
        let Some(name) = name.filter(|_| self.records && !self.sources.arguments.is_empty()) else { return false };
        let index = &self.sources.index;
        let only =
            self.sources.arguments.values().all(|v| v.as_str().is_some_and(|text| index.keyed(text).next().is_some()));
        let kind = index.kinds.iter().find(|(stem, _)| Some(stem) == records::stems(name).last());
        only && kind.is_some_and(|(_, kind)| {
            index.records.iter().any(|r| r.kind == *kind && focus.iter().any(|f| r.above.contains(f)))
        })
    }
}

/// A value, not a text that says it in other words.
fn is_short(value: &Value) -> bool {
    match value {
        Value::String(text) => (1..4).contains(&reading::read(text).len()),
        value => value.is_number() || value.is_boolean(),
    }
}

/// A value as text, to look up what changed.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => records::canonical(other),
    }
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
