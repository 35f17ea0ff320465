//! A reply as a stream of items, also while it still comes. What is an item of the beginning of a reply is the same item of
//! the whole reply.

use std::sync::LazyLock;

use domain::{reasoning, untrusted, workflow};
use regex::{Regex, RegexBuilder};
use serde_json::Value;
use serde_json::de::Deserializer;

/// Size of a compiled pattern, in bytes.
const LARGEST_PATTERN: usize = 1 << 20;
/// Letters of a pattern.
const LONGEST_PATTERN: usize = 1_000;

static LIST_MARK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^(?:[-*•]|\d{1,3}[.)])\s+").ok());

#[derive(Debug, Clone)]
pub enum Split {
    Lines,
    JsonItems,
    Pattern(Regex),
}

impl Split {
    /// # Errors
    /// The pattern is no regular expression, or too large a one.
    pub fn compile(spec: &workflow::Split) -> Result<Self, String> {
        match spec {
            workflow::Split::Lines => Ok(Self::Lines),
            workflow::Split::JsonItems => Ok(Self::JsonItems),
            workflow::Split::Pattern(pattern) if pattern.len() > LONGEST_PATTERN => {
                Err(format!("is {} letters long; at most {LONGEST_PATTERN}", pattern.len()))
            }
            workflow::Split::Pattern(pattern) => {
                // The regex crate draws the place on lines of its own; the last one says what is wrong.
                let last = |e: regex::Error| {
                    let text = e.to_string();
                    let last = text.lines().next_back().unwrap_or_default();
                    format!("is none: {}", last.trim_start_matches("error: "))
                };
                let regex = RegexBuilder::new(pattern).size_limit(LARGEST_PATTERN).build().map_err(last)?;
                if regex.is_match("") { Err("matches the empty text".to_owned()) } else { Ok(Self::Pattern(regex)) }
            }
        }
    }

    /// The items of a whole reply.
    ///
    /// # Errors
    /// It is no list: words for the model that is asked again.
    pub fn whole(&self, reply: &str) -> Result<Vec<Value>, String> {
        let (text, _) = reasoning::split(reply, None);
        match self {
            Self::JsonItems => {
                let (items, is_closed) = json_items(&text)?;
                if is_closed { Ok(items) } else { Err("the JSON list has no end".to_owned()) }
            }
            Self::Lines => Ok(lines(&text, true)),
            Self::Pattern(regex) => Ok(between(regex, &text, 0)),
        }
    }

    /// The items of a reply that was cut off: all but the one in which it ends. No more of it comes.
    pub fn complete(&self, reply: &str) -> Vec<Value> {
        match self {
            Self::JsonItems | Self::Lines => self.so_far(reply),
            Self::Pattern(regex) => between(regex, &reasoning::split(reply, None).0, 1),
        }
    }

    /// The items of a reply of which only the beginning is there: those that nothing behind them can change.
    pub fn so_far(&self, beginning: &str) -> Vec<Value> {
        // Without a tag nothing is taken away, not even the end of a line.
        let said = beginning.contains('<').then(|| reasoning::split(beginning, None).0);
        let text = said.as_deref().unwrap_or(beginning);
        match self {
            Self::JsonItems => json_items(text).map(|(items, _)| items).unwrap_or_default(),
            Self::Lines => lines(text, false),
            // What follows may belong to the last part, and to the match before it.
            Self::Pattern(regex) => between(regex, text, 2),
        }
    }
}

fn lines(text: &str, is_whole: bool) -> Vec<Value> {
    let ended = if is_whole { text } else { text.rfind('\n').map_or("", |end| &text[..end]) };
    ended.lines().filter_map(line).map(Value::from).collect()
}

/// A line without its list mark; `None` if nothing is left.
fn line(line: &str) -> Option<&str> {
    let line = line.trim();
    let mark = LIST_MARK.as_ref().and_then(|mark| mark.find(line)).map_or(0, |found| found.end());
    Some(line[mark..].trim()).filter(|rest| !rest.is_empty())
}

/// The texts between matches, without so many of the last ones.
fn between(regex: &Regex, text: &str, open: usize) -> Vec<Value> {
    let mut parts: Vec<&str> = regex.split(text).collect();
    parts.truncate(parts.len().saturating_sub(open));
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).map(Value::from).collect()
}

/// The items of the first JSON list, and whether it is closed.
fn json_items(text: &str) -> Result<(Vec<Value>, bool), String> {
    let mut rest = &text[text.find('[').ok_or("there is no JSON list")? + 1..];
    let mut items = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.starts_with(']') {
            return Ok((items, true));
        }
        let mut values = Deserializer::from_str(rest).into_iter::<Value>();
        let value = match values.next() {
            Some(Ok(value)) => value,
            Some(Err(e)) if e.is_eof() => return Ok((items, false)),
            Some(Err(e)) => return Err(format!("the JSON list has a broken item: {e}")),
            None => return Ok((items, false)),
        };
        let item = &rest[..values.byte_offset()];
        rest = rest[values.byte_offset()..].trim_start();
        match rest.chars().next() {
            // A number may go on; all else has its end.
            None if value.is_number() => return Ok((items, false)),
            Some(',') => rest = &rest[1..],
            None | Some(']') => {}
            Some(_) => return Err("items of the JSON list are not separated by commas".to_owned()),
        }
        // Also refuses keys that are written twice.
        untrusted::json(item)?;
        items.push(value);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn split(spec: &workflow::Split) -> Split {
        Split::compile(spec).unwrap()
    }

    #[test]
    fn lines_lose_their_list_marks() {
        let lines = split(&workflow::Split::Lines);
        let reply = "1. First claim\n\n- second\n  * third\n3) fourth 2.5 x\n2.5 is a number";
        let expected = json!(["First claim", "second", "third", "fourth 2.5 x", "2.5 is a number"]);
        assert_eq!(Value::from(lines.whole(reply).unwrap()), expected);
        assert_eq!(Value::from(lines.so_far("a\nb")), json!(["a"]));
        assert_eq!(Value::from(lines.so_far("a\nb\n")), json!(["a", "b"]));
    }

    #[test]
    fn items_of_a_json_list_count_when_they_are_complete() {
        let items = split(&workflow::Split::JsonItems);
        let so_far = |text: &str| Value::from(items.so_far(text));
        assert_eq!(so_far("```json\n[{\"a\": 1}, {\"a\""), json!([{"a": 1}]));
        assert_eq!(so_far("[1, 2"), json!([1]));
        assert_eq!(so_far("[{\"a\": 1}"), json!([{"a": 1}]));
        assert_eq!(so_far("[[1], \"b\" "), json!([[1], "b"]));
        assert_eq!(so_far("no list"), json!([]));
        assert_eq!(items.whole("Here: [1, \"x\", []] and more"), Ok(vec![json!(1), json!("x"), json!([])]));
        assert_eq!(items.whole("[1, 2"), Err("the JSON list has no end".to_owned()));
        assert!(items.whole("[1 2]").is_err() && items.whole("[{\"a\": 1, \"a\": 2}]").is_err());
    }

    #[test]
    fn a_pattern_separates() {
        let parts = split(&workflow::Split::Pattern("---+".into()));
        assert_eq!(parts.whole("one\n---\ntwo---").unwrap(), [json!("one"), json!("two")]);
        assert_eq!(Value::from(parts.so_far("one --- two --")), json!([]));
        assert_eq!(Value::from(parts.so_far("one --- two --- th")), json!(["one"]));
        assert_eq!(Value::from(parts.complete("one --- two --- th")), json!(["one", "two"]));
        assert_eq!(Value::from(parts.complete("one --- two ---")), json!(["one", "two"]));
        assert_eq!(Value::from(parts.complete("one")), json!([]));
        assert!(Split::compile(&workflow::Split::Pattern("(".into())).is_err());
        assert!(Split::compile(&workflow::Split::Pattern("a*".into())).is_err());
        assert!(Split::compile(&workflow::Split::Pattern("((a{100}){100}){100}".into())).is_err());
    }

    proptest! {
        /// Whatever a model writes, and wherever it is cut: what is said of the beginning holds for the whole.
        #[test]
        fn the_beginning_says_nothing_that_the_whole_does_not(
            reply in "[\\[\\],{}\": 0-9a-c\n.-]{0,60}", cut in 0_usize..60,
        ) {
            let pattern = workflow::Split::Pattern("-+|, ".into());
            for spec in [workflow::Split::Lines, workflow::Split::JsonItems, pattern] {
                let split = split(&spec);
                let beginning = &reply[..cut.min(reply.len())];
                if let Ok(whole) = split.whole(&reply) {
                    let so_far = split.so_far(beginning);
                    prop_assert!(whole.starts_with(&so_far), "{spec:?} {beginning:?} {so_far:?} {whole:?}");
                }
            }
        }
    }
}
