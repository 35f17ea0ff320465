//! Names that code, invariants and policy rules use and no world has: parts of the world, fields of records.

use std::collections::BTreeSet;

use domain::playbook::Invariant;
use domain::problem::did_you_mean;
use serde_json::{Map, Value};
use starlark::syntax::Dialect;
use starlark_syntax::codemap::CodeMap;
use starlark_syntax::lexer::{Lexer, Token};

use super::places::{certainty, collections, in_schema};
use super::{Finding, Place, Start};
use crate::playbook::Playbook;
use crate::playbook::rules::Mentions;

/// `code`: the text of the playbook's functions.
pub fn check(playbook: &Playbook, starts: &[Start], code: &str) -> Vec<Finding> {
    let templates = playbook.spec.all_tools().flat_map(|tool| [&tool.template, &tool.scripted, &tool.scripted_patch]);
    let templates = templates.flatten().filter_map(|name| playbook.templates.get_template(name).ok());
    let mut writers: Vec<String> = templates.map(|template| template.source().to_owned()).collect();
    writers.push(code.to_owned());
    let schema = &playbook.schema_json;
    let names = Names { schema, starts, known: collections(schema, starts), writers };
    let mut findings = Vec::new();
    let mut said = BTreeSet::new();
    for (i, line) in without_prose(code).lines().enumerate() {
        for name in names.unknown_parts("world", line).into_iter().filter(|name| said.insert(name.clone())) {
            findings.push(names.no_part(Place::Line(i + 1), &name));
        }
    }
    for (i, rule) in playbook.spec.world.invariants.iter().enumerate() {
        findings
            .extend(names.of_invariant(rule, &|field: &str| Place::Field(format!("/world/invariants/{i}/{field}"))));
    }
    for (i, rule) in playbook.spec.policy_rules.iter().enumerate() {
        let mut unknown = names.unknown_parts("world", &rule.holds);
        unknown.extend(names.unknown_parts("before", &rule.holds));
        findings.extend(unknown.iter().map(|n| names.no_part(Place::Field(format!("/policy_rules/{i}/holds")), n)));
    }
    findings
}

struct Names<'a> {
    schema: &'a Value,
    starts: &'a [Start],
    known: BTreeSet<String>,
    /// The code and the templates, which may write fields that no world has before.
    writers: Vec<String>,
}

impl Names<'_> {
    fn of_invariant(&self, rule: &Invariant, place: &dyn Fn(&str) -> Place) -> Vec<Finding> {
        let mut said = self.unknown_parts("world", &rule.holds);
        let mut findings: Vec<Finding> = said.iter().map(|name| self.no_part(place("holds"), name)).collect();
        if let Some(each) = &rule.each {
            if let Some(message) = self.no_collection(each) {
                findings.push(Finding::warning(place("each"), message));
                // Whatever it reads from such records is not there, either.
                return findings;
            }
            for (name, message) in self.unknown_fields(each, &rule.holds) {
                findings.push(Finding::warning(place("holds"), message));
                said.insert(name);
            }
        }
        for name in self.never_found(&rule.holds).into_iter().filter(|name| said.insert(name.clone())) {
            let hint = self.hint(&name, &BTreeSet::new());
            let message = format!("nothing in the world has `{name}`{hint}, so `.get` never finds it");
            findings.push(Finding::warning(place("holds"), message));
        }
        findings
    }

    /// Parts that a text reads from a world, which it calls `variable`.
    fn unknown_parts(&self, variable: &str, text: &str) -> BTreeSet<String> {
        let unknown = Mentions::by_name(variable, text).parts.into_iter().filter(|name| !self.known.contains(name));
        unknown.filter(|name| !in_schema(self.schema, std::slice::from_ref(name))).collect()
    }

    fn no_part(&self, place: Place, name: &str) -> Finding {
        let hint = did_you_mean(name, self.known.iter().map(String::as_str));
        Finding { severity: certainty(self.schema, true), place, message: format!("the world has no `{name}`{hint}") }
    }

    /// Why the path of an `each` leads to no records.
    fn no_collection(&self, each: &str) -> Option<String> {
        let (mut path, mut outer): (Vec<String>, String) = (Vec::new(), String::new());
        for name in each.split('/') {
            let fields = if path.is_empty() { self.known.clone() } else { self.fields(&path) };
            path.push(name.to_owned());
            if !self.has(&path) {
                let hint = self.hint(name, &fields);
                return Some(if outer.is_empty() {
                    format!("the world has no `{name}`{hint}")
                } else {
                    format!("the records of `{outer}` have no `{name}`{hint}")
                });
            }
            outer = if outer.is_empty() { name.to_owned() } else { format!("{outer}/{name}") };
            path.push("*".to_owned());
            if !self.has(&path) {
                return Some(format!("`{outer}` is no collection, so the rule is never checked"));
            }
        }
        None
    }

    /// Fields of `record` and `parent` that neither the schema of their collection nor any record has, with what is to
    /// be said of them.
    fn unknown_fields(&self, each: &str, expression: &str) -> Vec<(String, String)> {
        let mut unknown = self.unknown_fields_of("record", each, expression);
        match each.rsplit_once('/') {
            Some((outer, _)) => unknown.extend(self.unknown_fields_of("parent", outer, expression)),
            None => {
                let read = Mentions::by_name("parent", expression).parts.into_iter();
                unknown.extend(read.map(|name| {
                    let message =
                        format!("reads `{name}` from `parent`, which is None: no record holds the records of `{each}`");
                    (name, message)
                }));
            }
        }
        unknown
    }

    fn unknown_fields_of(&self, variable: &str, collection: &str, expression: &str) -> Vec<(String, String)> {
        let path: Vec<String> = collection.split('/').flat_map(|name| [name.to_owned(), "*".to_owned()]).collect();
        let fields = self.fields(&path);
        let there = |name: &String| {
            let within: Vec<String> = path.iter().chain([name]).cloned().collect();
            fields.contains(name) || in_schema(self.schema, &within) || self.is_written(name)
        };
        let unknown = Mentions::by_name(variable, expression).parts.into_iter().filter(|name| !there(name));
        let with_message = |name: String| {
            let hint = self.hint(&name, &fields);
            let message = format!("the records of `{collection}` have no `{name}`{hint}");
            (name, message)
        };
        unknown.map(with_message).collect()
    }

    /// What `.get("...")` asks some record for, and nothing anywhere has or gets.
    fn never_found(&self, expression: &str) -> Vec<String> {
        let asked = expression.match_indices(".get(").filter_map(|(at, call)| quoted(&expression[at + call.len()..]));
        let is_known = |name: &str| {
            let is_there = has_key(self.schema, name) || self.starts.iter().any(|start| has_key(&start.json, name));
            is_there || self.is_written(name)
        };
        asked.filter(|name| !is_known(name)).map(str::to_owned).collect()
    }

    /// Whether a function or a template may write a field of this name.
    fn is_written(&self, name: &str) -> bool {
        let quoted = ['"', '\''].map(|quote| format!("{quote}{name}{quote}"));
        self.writers.iter().any(|text| quoted.iter().any(|name| text.contains(name)))
    }

    /// The nearest of these fields, or else of all that there are.
    fn hint(&self, name: &str, fields: &BTreeSet<String>) -> String {
        let hint = did_you_mean(name, fields.iter().map(String::as_str));
        if !hint.is_empty() {
            return hint;
        }
        let mut all = BTreeSet::new();
        collect_properties(self.schema, &mut all);
        self.starts.iter().for_each(|start| collect_keys(&start.json, &mut all));
        did_you_mean(name, all)
    }

    fn has(&self, path: &[String]) -> bool {
        in_schema(self.schema, path) || self.starts.iter().any(|start| has(&start.json, path))
    }

    /// Fields of the records in the worlds.
    fn fields(&self, path: &[String]) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for start in self.starts {
            collect(&start.json, path, &mut found);
        }
        found
    }
}

/// The code without what reads nothing: comments, docstrings, and texts with brackets, which are no names. No line moves.
fn without_prose(code: &str) -> String {
    let codemap = CodeMap::new("code".to_owned(), code.to_owned());
    let tokens = Lexer::new(code, &Dialect::Standard, codemap).map_while(Result::ok);
    let tokens: Vec<(usize, Token, usize)> = tokens.collect();
    let (mut kept, mut at, mut begins_statement) = (String::with_capacity(code.len()), 0, true);
    for (i, (start, token, end)) in tokens.iter().enumerate() {
        let is_statement = begins_statement && matches!(tokens.get(i + 1), Some((_, Token::Newline, _)));
        let is_prose = match token {
            Token::Comment(_) => true,
            Token::String(text) => is_statement || text.contains(['[', '(']),
            _ => false,
        };
        if !matches!(token, Token::Comment(_)) {
            begins_statement = matches!(token, Token::Newline | Token::Indent | Token::Dedent);
        }
        if let (true, Some(before), Some(prose)) = (is_prose, code.get(at..*start), code.get(*start..*end)) {
            kept.push_str(before);
            kept.push_str(&"\n".repeat(prose.matches('\n').count()));
            at = *end;
        }
    }
    kept + code.get(at..).unwrap_or_default()
}

/// The text that a list of arguments begins with.
fn quoted(arguments: &str) -> Option<&str> {
    let arguments = arguments.trim_start();
    let quote = arguments.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    arguments[1..].split_once(quote).map(|(text, _)| text)
}

fn collect(value: &Value, path: &[String], found: &mut BTreeSet<String>) {
    let Some((key, rest)) = path.split_first() else {
        found.extend(value.as_object().into_iter().flat_map(Map::keys).cloned());
        return;
    };
    for value in within(value, key) {
        collect(value, rest, found);
    }
}

fn has(value: &Value, path: &[String]) -> bool {
    path.split_first().is_none_or(|(key, rest)| within(value, key).into_iter().any(|inner| has(inner, rest)))
}

/// What is at a key: `*` is any, and a list stands for its items.
fn within<'a>(value: &'a Value, key: &str) -> Vec<&'a Value> {
    match value {
        Value::Object(map) if key == "*" => map.values().collect(),
        Value::Object(map) => map.get(key).into_iter().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    }
}

/// Whether a name is a key somewhere in a value.
fn has_key(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(map) => map.contains_key(name) || map.values().any(|inner| has_key(inner, name)),
        Value::Array(items) => items.iter().any(|item| has_key(item, name)),
        _ => false,
    }
}

/// The names of all properties that a schema declares.
fn collect_properties<'a>(schema: &'a Value, names: &mut BTreeSet<&'a str>) {
    match schema {
        Value::Object(map) => {
            let own = map.get("properties").and_then(Value::as_object);
            names.extend(own.into_iter().flat_map(Map::keys).map(String::as_str));
            map.values().for_each(|inner| collect_properties(inner, names));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_properties(item, names)),
        _ => {}
    }
}

fn collect_keys<'a>(value: &'a Value, keys: &mut BTreeSet<&'a str>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                keys.insert(key);
                collect_keys(inner, keys);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_keys(item, keys)),
        _ => {}
    }
}
