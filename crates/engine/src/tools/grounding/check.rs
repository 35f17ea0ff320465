//! The walk over what a model states: which records each part of it is about, and whether they say so.

use domain::patch;
use serde_json::{Map, Value};

use super::scope::Scope;
use super::{Sources, UngroundedFact, fields, numbers, prose, reading, records};
use crate::facts;

pub struct Check<'a> {
    pub sources: &'a Sources,
    /// Whether values must be those of the records; a change may make them others.
    pub records: bool,
}

impl Check<'_> {
    /// The first fact of a value that comes from nowhere. `focus`: the records that it may be about.
    pub fn value(
        &self,
        value: &Value,
        schema: Option<&Value>,
        name: Option<&str>,
        focus: &[usize],
        at: &str,
    ) -> Option<UngroundedFact> {
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
    ) -> Option<UngroundedFact> {
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
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => records::canonical(other),
    }
}
