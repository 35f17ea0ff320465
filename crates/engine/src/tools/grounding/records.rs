//! The records that a tool may read: their fields, how they hang together, and which of them a call is about.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use super::dates::Date;
use super::numbers::{Number, Unit};
use super::reading::{Fact, Token, read};
use super::words;

/// One value of a record, with the words of its name.
#[derive(Debug)]
pub struct Field {
    pub name: Vec<String>,
    /// All words of the name, as they are.
    pub label: Vec<String>,
    /// The names of everything that it stands in, its own included.
    pub path: Vec<String>,
    pub value: Value,
    pub tokens: Vec<Token<'static>>,
}

impl Field {
    /// Prose, not a value.
    pub fn is_text(&self) -> bool {
        self.tokens.len() > 6
    }
}

/// What is said in one place, ready to be looked up.
#[derive(Debug, Default)]
pub struct Facts {
    pub words: HashSet<String>,
    /// Stems of words that are no names: written small, or names of fields.
    pub stems: HashSet<String>,
    pub numbers: Vec<(Number, Vec<String>, bool)>,
    pub dates: Vec<Date>,
    pub times: HashSet<u32>,
    pub codes: HashSet<String>,
    /// Neighbours: names are more than their parts.
    pub pairs: HashSet<(String, String)>,
}

impl Facts {
    pub fn add(&mut self, value: &Value, path: &[String]) -> Vec<Token<'static>> {
        let tokens = match value {
            Value::Number(number) => {
                let raw = canonical(value);
                let number = Number::plain(if raw.is_empty() { number.to_string() } else { raw.clone() });
                vec![Token::of_number(number, raw)]
            }
            Value::String(text) => read(text),
            _ => Vec::new(),
        };
        let in_text = tokens.len() > 1;
        for token in &tokens {
            self.add_token(token, path, in_text, tokens.len() > 6);
        }
        let named = tokens.windows(2).filter(|w| w[1].sentence == w[0].sentence);
        self.pairs.extend(named.map(|pair| (pair[0].key(), pair[1].key())));
        tokens
    }

    fn add_token(&mut self, token: &Token<'_>, path: &[String], in_text: bool, long: bool) {
        match &token.fact {
            Fact::Word(word) => {
                if !token.capital || (token.opens && long) {
                    self.stems.insert(words::stem(word));
                }
                self.words.insert(word.to_string());
            }
            Fact::Number(number) => {
                self.numbers.push((number.clone(), path.to_vec(), in_text));
                self.codes.insert(token.raw.to_string());
            }
            Fact::Date(days) => self.dates.extend(days),
            Fact::Time(minutes) => {
                self.times.insert(*minutes);
            }
            Fact::Code(code) => {
                self.codes.insert(code.to_string());
                for part in code.split(|c: char| !c.is_alphanumeric()).filter(|p| p.len() > 1) {
                    if code.contains('_') && !part.contains(|c: char| c.is_ascii_digit()) {
                        self.words.insert(part.to_owned());
                        self.stems.insert(words::stem(part));
                    }
                }
            }
        }
    }

    /// Names of fields are the author's words.
    pub fn add_name(&mut self, name: &str) {
        for part in parts(name) {
            self.stems.insert(words::stem(&part));
            if part.contains(|c: char| c.is_ascii_digit()) {
                self.codes.insert(part.clone());
            }
            self.words.insert(part);
        }
    }
}

#[derive(Debug)]
pub struct Record {
    pub key: Option<String>,
    /// Where it stands, the same for all records of a kind.
    pub kind: String,
    pub fields: Vec<Field>,
    pub facts: Facts,
    /// Itself, what it stands in, and what it refers to, over any number of steps.
    pub above: BTreeSet<usize>,
    parent: Option<usize>,
    /// The people among those.
    owners: BTreeSet<usize>,
    /// What it is called: the key, and its name if no other record of its kind has it.
    pub handles: Vec<Vec<String>>,
    /// Other values that no other record of its kind has.
    pub marks: Vec<Vec<String>>,
}

impl Record {
    /// Whether the record is somebody: what hangs on it is that person's and nobody else's.
    fn is_person(&self) -> bool {
        const PEOPLE: [&str; 16] = [
            "customers",
            "clients",
            "users",
            "guests",
            "members",
            "passengers",
            "patients",
            "employees",
            "subscribers",
            "people",
            "persons",
            "students",
            "tenants",
            "holders",
            "travellers",
            "visitors",
        ];
        let last = self.kind.rsplit('/').find(|part| *part != "*").unwrap_or_default();
        PEOPLE.contains(&last) || self.fields.iter().any(|f| f.name.iter().any(|w| w == "birth"))
    }
}

/// All records of a view.
#[derive(Debug, Default)]
pub struct Index {
    pub records: Vec<Record>,
    /// The last word of each kind's name, as a stem.
    pub kinds: Vec<(String, String)>,
}

impl Index {
    pub fn new(view: &Value) -> Self {
        let mut index = Self::default();
        index.record(view, None, "", None);
        index.link();
        index.name();
        index.own();
        let kinds: BTreeSet<&str> = index.records.iter().map(|r| r.kind.as_str()).collect();
        index.kinds = kinds
            .iter()
            .filter_map(|kind| {
                Some((words::stem(kind.rsplit('/').find(|p| *p != "*" && !p.is_empty())?), (*kind).to_owned()))
            })
            .collect();
        index
    }

    fn record(&mut self, value: &Value, key: Option<&str>, kind: &str, parent: Option<usize>) {
        let at = self.records.len();
        let key = key.map(str::to_owned).or_else(|| own_id(value));
        let record = Record {
            key,
            kind: kind.to_owned(),
            fields: Vec::new(),
            facts: Facts::default(),
            above: BTreeSet::new(),
            owners: BTreeSet::new(),
            parent,
            handles: Vec::new(),
            marks: Vec::new(),
        };
        self.records.push(record);
        if let Some(key) = self.records[at].key.clone() {
            self.records[at].facts.add(&Value::String(key), &[]);
        }
        self.fill(at, value, &mut Vec::new(), kind);
    }

    /// Values of the record itself; objects within it are its parts, lists and maps of objects records of their own.
    fn fill(&mut self, at: usize, value: &Value, path: &mut Vec<String>, kind: &str) {
        match value {
            Value::Object(map) => {
                for (name, value) in map {
                    let place = format!("{kind}/{name}");
                    self.records[at].facts.add_name(name);
                    if let Some(records) = collection(value, kind.is_empty()) {
                        records.iter().for_each(|(key, value)| self.record(value, Some(key), &place, Some(at)));
                        continue;
                    }
                    match value {
                        Value::Array(items) if items.iter().any(Value::is_object) => {
                            for item in items {
                                self.record(item, None, &place, Some(at));
                            }
                        }
                        Value::Object(_) if kind.is_empty() => self.record(value, Some(name), &place, Some(at)),
                        _ => {
                            path.push(name.clone());
                            self.fill(at, value, path, kind);
                            path.pop();
                        }
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.fill(at, item, path, kind)),
            value => {
                let all: Vec<String> = path.iter().flat_map(|name| stems(name)).collect();
                let name = path.last().map(|name| stems(name)).unwrap_or_default();
                let tokens = self.records[at].facts.add(value, &all);
                let label = path.last().map(|name| parts(name)).unwrap_or_default();
                self.records[at].fields.push(Field { name, label, path: all, value: value.clone(), tokens });
            }
        }
    }

    fn own(&mut self) {
        let people: BTreeSet<String> = self.records.iter().filter(|r| r.is_person()).map(|r| r.kind.clone()).collect();
        let owner: Vec<bool> = self.records.iter().map(|r| people.contains(&r.kind)).collect();
        for record in &mut self.records {
            record.owners = record.above.iter().filter(|a| owner[**a]).copied().collect();
        }
    }

    fn link(&mut self) {
        let keys: Vec<(String, usize)> = self
            .records
            .iter()
            .enumerate()
            .filter_map(|(i, r)| Some((r.key.clone().filter(|k| is_id(k))?, i)))
            .collect();
        let direct: Vec<Vec<usize>> = self
            .records
            .iter()
            .map(|record| {
                let named = record.fields.iter().filter_map(|f| f.value.as_str());
                let linked = named.flat_map(|text| keys.iter().filter(move |(key, _)| key == text).map(|(_, i)| *i));
                linked.chain(record.parent).collect()
            })
            .collect();
        for i in 0..self.records.len() {
            let (mut above, mut open) = (BTreeSet::new(), vec![i]);
            while let Some(next) = open.pop() {
                if above.insert(next) {
                    open.extend(&direct[next]);
                }
            }
            self.records[i].above = above;
        }
    }

    fn name(&mut self) {
        let all: Vec<(Names, Names)> = self.records.iter().map(called).collect();
        let mut counts: HashMap<(&str, &Vec<String>), usize> = HashMap::new();
        for (record, (names, marks)) in self.records.iter().zip(&all) {
            for value in names.iter().chain(marks) {
                *counts.entry((&record.kind, value)).or_default() += 1;
            }
        }
        let alone = |record: &Record, values: &[Vec<String>]| -> Vec<Vec<String>> {
            values.iter().filter(|value| counts.get(&(record.kind.as_str(), *value)) == Some(&1)).cloned().collect()
        };
        let own: Vec<_> =
            self.records.iter().zip(&all).map(|(r, (names, marks))| (alone(r, names), alone(r, marks))).collect();
        for (record, (handles, marks)) in self.records.iter_mut().zip(own) {
            (record.handles, record.marks) = (handles, marks);
        }
    }

    /// Records with this key.
    pub fn keyed(&self, key: &str) -> impl Iterator<Item = usize> + '_ {
        let key = key.to_owned();
        self.records
            .iter()
            .enumerate()
            .filter(move |(_, r)| r.key.as_ref().is_some_and(|k| k.eq_ignore_ascii_case(&key)) && is_id(&key))
            .map(|(i, _)| i)
    }

    /// Records that a value stands for, by key or by a text of their own.
    pub fn meant_by(&self, value: &str) -> Vec<usize> {
        let keyed: Vec<usize> = self.keyed(value).collect();
        if !keyed.is_empty() {
            return keyed;
        }
        let handle: Vec<String> = read(value).iter().map(Token::key).collect();
        (0..self.records.len())
            .filter(|i| [&self.records[*i].handles, &self.records[*i].marks].iter().any(|all| all.contains(&handle)))
            .collect()
    }

    /// The focus when a part of an answer names records of its own: they take the place of others of their kind.
    pub fn refocus(&self, focus: &[usize], named: &[usize]) -> Vec<usize> {
        let kind = |i: &usize| &self.records[*i].kind;
        let kept = focus.iter().filter(|f| !named.iter().any(|n| kind(n) == kind(f)));
        named.iter().chain(kept).copied().collect()
    }

    /// Whether a record belongs to somebody else than those whom the focus is about.
    pub fn is_foreign(&self, i: usize, focus: &[usize]) -> bool {
        let mut ours = focus.iter().flat_map(|f| &self.records[*f].owners).peekable();
        let theirs = &self.records[i].owners;
        ours.peek().is_some() && !theirs.is_empty() && !ours.any(|owner| theirs.contains(owner))
    }

    /// Whether a record is part of one of a kind that is in focus, but not of the one in focus.
    pub fn is_part_elsewhere(&self, i: usize, focus: &[usize]) -> bool {
        let Some(parent) = self.records[i].parent.filter(|p| !self.records[*p].kind.is_empty()) else { return false };
        focus.iter().any(|f| self.records[*f].kind == self.records[parent].kind) && !focus.contains(&parent)
    }

    /// The records that may be spoken of when these are in focus: those, what they belong to, what belongs to them, and
    /// what has nothing to do with their kinds.
    pub fn scope(&self, focus: &[usize]) -> Vec<usize> {
        if focus.is_empty() {
            return (0..self.records.len()).collect();
        }
        let about: BTreeSet<usize> = focus.iter().flat_map(|f| &self.records[*f].above).copied().collect();
        let within = |i: usize| {
            if about.contains(&i) {
                return true;
            }
            if self.is_foreign(i, focus) {
                return false;
            }
            // Of each kind that both hang on, they must share one.
            let theirs = &self.records[i].above;
            theirs.iter().all(|t| {
                let kind = &self.records[*t].kind;
                kind.is_empty() || {
                    let mut same = about.iter().filter(|a| self.records[**a].kind == *kind).peekable();
                    same.peek().is_none() || same.any(|a| theirs.contains(a))
                }
            })
        };
        (0..self.records.len()).filter(|i| within(*i)).collect()
    }
}

/// Rows of words.
type Names = Vec<Vec<String>>;

/// The names of a record, and its other telling values.
fn called(record: &Record) -> (Names, Names) {
    let key = record.key.iter().filter(|key| is_id(key)).map(|key| vec![key.to_lowercase()]);
    let (mut names, mut marks): (Vec<_>, Vec<_>) = (key.collect(), Vec::new());
    for field in record.fields.iter().filter(|f| (1..=6).contains(&f.tokens.len())) {
        let keys = field.tokens.iter().map(Token::key).collect();
        let code = field.tokens.iter().all(|t| matches!(&t.fact, Fact::Code(c) if !c.contains('_')));
        let capital = field.tokens.iter().any(|t| t.capital);
        if capital
            && field.name.iter().any(|word| ["name", "titl", "nam", "description", "label"].contains(&word.as_str()))
        {
            names.push(keys);
        } else if code || capital || field.tokens.iter().all(|t| matches!(t.fact, Fact::Number(_)) && t.raw.len() > 3) {
            marks.push(keys);
        }
    }
    (names, marks)
}

/// A map of records: their keys are names, not fields.
fn collection(value: &Value, top: bool) -> Option<&serde_json::Map<String, Value>> {
    let map = value.as_object()?;
    let named = |key: &String| top || key.contains(|c: char| c.is_ascii_digit());
    (!map.is_empty() && map.iter().all(|(key, value)| value.is_object() && named(key))).then_some(map)
}

/// What an item of a list is called by.
fn own_id(value: &Value) -> Option<String> {
    let map = value.as_object()?;
    ["id", "sku", "code", "number"].iter().find_map(|name| map.get(*name)?.as_str().map(str::to_owned))
}

/// A key that is no ordinary word.
pub fn is_id(key: &str) -> bool {
    key.contains(|c: char| c.is_ascii_digit() || c == '_')
}

fn parts(name: &str) -> Vec<String> {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && out.ends_with(|l: char| l.is_lowercase()) {
            out.push(' ');
        }
        out.push(if c.is_alphanumeric() { c } else { ' ' });
    }
    out.to_lowercase().split_whitespace().map(str::to_owned).collect()
}

/// The words of a name, without those that say nothing.
pub fn stems(name: &str) -> Vec<String> {
    let all = parts(name);
    let telling: Vec<String> = all.iter().filter(|p| !words::is_particle(p)).map(|p| words::stem(p)).collect();
    if telling.is_empty() { all } else { telling }
}

/// A number of a record, `7.5` for `7.50`.
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    crate::world::Node::from(value).write_canonical(&mut |text| out.push_str(text));
    out.strip_suffix(".0").map(str::to_owned).unwrap_or(out)
}

/// Whether a number from a field with this path may be said with this unit.
pub fn unit_fits(said: &Number, known: &Number, path: &[String]) -> bool {
    match (&said.unit, &known.unit) {
        (None, _) => true,
        (Some(Unit::Measure(..)), Some(Unit::Measure(..))) => said.in_base() == known.in_base(),
        (Some(a), Some(b)) => a == b,
        (Some(Unit::Percent), None) => path.iter().any(|w| {
            ["percent", "percentag", "rate", "rat", "pct", "discount", "interest", "shar"].contains(&w.as_str())
        }),
        (Some(Unit::Measure(base, factor)), None) => path.iter().any(|w| {
            ["", "s", "e", "es"]
                .iter()
                .any(|ending| super::numbers::unit(&format!("{w}{ending}")) == Some(Unit::Measure(base, *factor)))
        }),
        (Some(Unit::Money(_)), None) => !path.last().is_some_and(|w| {
            super::numbers::unit(w).is_some_and(|u| !matches!(u, Unit::Money(_)))
                || ["percent", "count", "quantit", "guest"].contains(&w.as_str())
        }),
    }
}
