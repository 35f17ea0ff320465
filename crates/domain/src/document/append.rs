//! Additions to a YAML text that leave every letter of it where it is: comments, order and layout stay.

use saphyr_parser::{Event, Parser};
use serde_json::{Map, Value};

use super::compact::{compact, scalar, shifted};
use super::yaml;
use crate::patch;

/// Adds items to the list at a pointer, or fields to the map there. What is added stands last.
///
/// # Errors
/// There is no such list or map, or it is written in a way that cannot be added to safely. The result has been read
/// again: it holds what the text held, and what was added.
pub fn append(source: &str, pointer: &str, addition: &Value) -> Result<String, String> {
    let cannot = |why: &str| format!("{why}; add it by hand: {addition}");
    let before = yaml::read("the text", source).map_err(|problem| problem.to_string())?.value;
    let expected = added(&before, pointer, addition).ok_or_else(|| cannot("there is nothing it could be added to"))?;
    let place = Place::find(source, pointer).ok_or_else(|| cannot("its place was not found"))?;
    let changed = if place.flow { place.in_flow(source, addition) } else { place.in_block(source, addition) };
    match yaml::read("the text", &changed) {
        Ok(after) if after.value == expected => Ok(changed),
        _ => Err(cannot("it cannot be added safely")),
    }
}

/// The value with the addition. `None` if there is no list or map for it, or a field is there already.
fn added(value: &Value, pointer: &str, addition: &Value) -> Option<Value> {
    let mut value = value.clone();
    match (value.pointer_mut(pointer)?, addition) {
        (Value::Array(items), Value::Array(new)) => items.extend(new.iter().cloned()),
        (Value::Object(map), Value::Object(new)) if new.keys().all(|key| !map.contains_key(key)) => {
            map.extend(new.clone());
        }
        _ => return None,
    }
    Some(value)
}

/// Where a list or a map stands in the text.
struct Place {
    /// Written within brackets.
    flow: bool,
    indent: usize,
    /// 1-based lines on which its items or keys begin.
    entries: Vec<usize>,
    /// Line on which the last thing within it begins.
    last_line: usize,
    /// Character index of what follows it; of its closing bracket, if it has one.
    end: usize,
}

impl Place {
    fn find(source: &str, pointer: &str) -> Option<Self> {
        let wanted = patch::segments(pointer)?;
        let mut walk = Walk { parser: Parser::new_from_str(source), source, found: None };
        loop {
            if let Event::DocumentStart(_) = walk.parser.next()?.ok()?.0 {
                walk.node(Some(&wanted))?;
                return walk.found;
            }
        }
    }

    /// Before the closing bracket.
    fn in_flow(&self, source: &str, addition: &Value) -> String {
        let end = source.char_indices().nth(self.end).map_or(source.len(), |(at, _)| at);
        let (head, tail) = source.split_at(end);
        let body = head.trim_end();
        let comma = if body.ends_with(['[', '{', ',']) { "" } else { ", " };
        let space = if body.ends_with(',') { " " } else { "" };
        let one = |value: &Value| value.as_str().map_or_else(|| value.to_string(), scalar);
        let parts: Vec<String> = match addition {
            Value::Array(items) => items.iter().map(one).collect(),
            Value::Object(map) => map.iter().map(|(key, value)| format!("{}: {value}", scalar(key))).collect(),
            other => vec![other.to_string()],
        };
        format!("{body}{comma}{space}{}{}{tail}", parts.join(", "), &head[body.len()..])
    }

    /// After the last line of the list or map, in its indentation.
    fn in_block(&self, source: &str, addition: &Value) -> String {
        let lines: Vec<&str> = source.split_inclusive('\n').collect();
        let indented = |line: &str| line.len() - line.trim_start_matches(' ').len() > self.indent;
        let mut end = self.last_line;
        for (at, line) in lines.iter().enumerate().skip(self.last_line).filter(|(_, line)| !line.trim().is_empty()) {
            if !indented(line) {
                break;
            }
            end = at + 1;
        }
        let (head, tail) = (lines[..end.min(lines.len())].concat(), lines[end.min(lines.len())..].concat());
        let newline = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        let space = if self.spaced(&lines) { "\n" } else { "" };
        let entries: String =
            entries(addition).iter().map(|entry| format!("{space}{}", shifted(entry, self.indent))).collect();
        format!("{head}{newline}{entries}{tail}")
    }

    /// Whether its entries are set off by empty lines.
    fn spaced(&self, lines: &[&str]) -> bool {
        let before = |line: &usize| line.checked_sub(2).and_then(|at| lines.get(at));
        self.entries.iter().skip(1).filter_map(before).any(|line| line.trim().is_empty())
    }
}

/// Each entry as YAML of its own.
fn entries(addition: &Value) -> Vec<String> {
    match addition {
        Value::Array(items) => items.iter().map(|item| compact(&Value::Array(vec![item.clone()]))).collect(),
        Value::Object(map) => {
            let one = |(key, value): (&String, &Value)| Value::Object(Map::from_iter([(key.clone(), value.clone())]));
            map.iter().map(one).map(|entry| compact(&entry)).collect()
        }
        other => vec![compact(other)],
    }
}

/// Goes through a text until it has come to the end.
struct Walk<'a> {
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    source: &'a str,
    found: Option<Place>,
}

impl Walk<'_> {
    /// The line on which the last thing within the node begins. `wanted`: the way from here to what is looked for, if it is
    /// within this node.
    fn node(&mut self, wanted: Option<&[String]>) -> Option<usize> {
        let (event, span) = self.parser.next()?.ok()?;
        let (start, mut last_line) = (span.start, span.start.line());
        let is_list = match event {
            Event::SequenceStart(..) => true,
            Event::MappingStart(..) => false,
            _ => return Some(last_line),
        };
        let mut entries = Vec::new();
        let end = loop {
            let (event, span) = self.parser.peek()?.ok()?.clone();
            if matches!(event, Event::SequenceEnd | Event::MappingEnd) {
                self.parser.next();
                break span;
            }
            entries.push(span.start.line());
            last_line = last_line.max(span.start.line());
            let key = if is_list { (entries.len() - 1).to_string() } else { self.key()? };
            let within = wanted.and_then(<[String]>::split_first).filter(|(next, _)| **next == key);
            last_line = last_line.max(self.node(within.map(|(_, rest)| rest))?);
        };
        if wanted.is_some_and(<[String]>::is_empty) {
            let opening = self.source.chars().nth(start.index());
            let flow = matches!(opening, Some('[' | '{'));
            // A list that is not indented begins, for the parser, at the key before it.
            let first = || entries.first().and_then(|line| self.source.lines().nth(line - 1));
            let dashes = || first().map(|line| line.len() - line.trim_start_matches(' ').len());
            let indent = if is_list && opening != Some('-') { dashes().unwrap_or(0) } else { start.col() };
            let place = Place { flow, indent, entries, last_line, end: end.start.index() };
            self.found = Some(place);
        }
        Some(last_line)
    }

    fn key(&mut self) -> Option<String> {
        match self.parser.next()?.ok()?.0 {
            Event::Scalar(text, ..) => Some(text.into_owned()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
