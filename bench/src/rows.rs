//! Whether two programs make the same rows: byte for byte, apart from ids, times and fields that were renamed.

use std::borrow::Cow;
use std::fmt;

use anyhow::{Context, bail};
use serde_json::Value;

/// Where a row keeps what differs from one run to the next, and what is compared in its place. The id of a sub-agent's row
/// begins with that of its conversation.
const CHANGING: [(&str, &str); 3] =
    [("/metadata/run_id", "[run]"), ("/metadata/id", "[conversation]"), ("/metadata/created_at", "[time]")];

/// A field that has another name in the rows of the other program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    pub before: String,
    pub after: String,
}

impl std::str::FromStr for Renamed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((before, after)) if !before.is_empty() && !after.is_empty() && !after.contains('=') => {
                Ok(Self { before: before.to_owned(), after: after.to_owned() })
            }
            _ => Err("expected OLD=NEW, the names of a field".to_owned()),
        }
    }
}

/// How much was compared and found to be the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alike {
    pub rows: usize,
    /// Of the second program's file.
    pub bytes: usize,
}

/// The first thing that is not the same.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    #[error("the first program made {0} rows, the second one {1}")]
    Count(usize, usize),
    #[error("row {row}, {path}:\n  first:  {}\n  second: {}", Shown(.first), Shown(.second))]
    Value { row: usize, path: String, first: Option<Value>, second: Option<Value> },
    #[error(
        "row {row}: the same values, but written differently from byte {byte} on:\n  first:  {first}\n  second: {second}"
    )]
    Text { row: usize, byte: usize, first: String, second: String },
}

struct Shown<'a>(&'a Option<Value>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(value) => write!(f, "{value}"),
            None => f.write_str("(absent)"),
        }
    }
}

/// Compares canonical rows as JSONL.
///
/// # Errors
/// The first [`Difference`]; or what is no row.
pub fn compare(first: &str, second: &str, renamed: &[Renamed]) -> anyhow::Result<Alike> {
    let lines = [first.lines().count(), second.lines().count()];
    for (number, (one, other)) in (1..).zip(first.lines().zip(second.lines())) {
        let one = normal(one, renamed).with_context(|| format!("row {number} of the first program"))?;
        let other = normal(other, &[]).with_context(|| format!("row {number} of the second program"))?;
        if one != other {
            return Err(difference(number, &one, &other)?.into());
        }
    }
    if lines[0] != lines[1] {
        return Err(Difference::Count(lines[0], lines[1]).into());
    }
    if lines[0] == 0 {
        bail!("there are no rows to compare");
    }
    Ok(Alike { rows: lines[1], bytes: second.len() })
}

/// A row as it is compared: its own text, with names in place of what changes from run to run.
fn normal(line: &str, renamed: &[Renamed]) -> anyhow::Result<String> {
    let row: Value = serde_json::from_str(line)?;
    let mut text = line.to_owned();
    for (pointer, name) in CHANGING {
        let value = row.pointer(pointer).and_then(Value::as_str).with_context(|| format!("it has no {pointer}"))?;
        let own = value.split_once('/').map_or(value, |(conversation, _)| conversation);
        text = text.replace(own, name);
    }
    for Renamed { before, after } in renamed {
        // Quotes within texts are escaped: what is followed by a colon is the name of a field.
        text = text.replace(&format!("\"{before}\":"), &format!("\"{after}\":"));
    }
    Ok(text)
}

fn difference(row: usize, first: &str, second: &str) -> anyhow::Result<Difference> {
    let (one, other): (Value, Value) = (serde_json::from_str(first)?, serde_json::from_str(second)?);
    if let Some((path, first, second)) = differing(&one, &other, "") {
        return Ok(Difference::Value { row, path, first: first.cloned(), second: second.cloned() });
    }
    let byte = first.bytes().zip(second.bytes()).take_while(|(one, other)| one == other).count();
    let around =
        |text: &str| String::from_utf8_lossy(&text.as_bytes()[byte.min(text.len())..]).chars().take(80).collect();
    Ok(Difference::Text { row, byte, first: around(first), second: around(second) })
}

type Differing<'a> = (String, Option<&'a Value>, Option<&'a Value>);

/// Where two values differ first, and what is there.
fn differing<'a>(first: &'a Value, second: &'a Value, path: &str) -> Option<Differing<'a>> {
    match (first, second) {
        (Value::Object(one), Value::Object(other)) => {
            let added = other.keys().filter(|key| !one.contains_key(*key));
            one.keys().chain(added).find_map(|key| {
                let path = format!("{path}/{}", escaped(key));
                either(one.get(key), other.get(key), path)
            })
        }
        (Value::Array(one), Value::Array(other)) => {
            (0..one.len().max(other.len())).find_map(|i| either(one.get(i), other.get(i), format!("{path}/{i}")))
        }
        _ => (first != second).then(|| (path.to_owned(), Some(first), Some(second))),
    }
}

fn either<'a>(first: Option<&'a Value>, second: Option<&'a Value>, path: String) -> Option<Differing<'a>> {
    match (first, second) {
        (Some(first), Some(second)) => differing(first, second, &path),
        _ => Some((path, first, second)),
    }
}

/// As JSON pointers have it.
fn escaped(key: &str) -> Cow<'_, str> {
    if key.contains(['~', '/']) { key.replace('~', "~0").replace('/', "~1").into() } else { key.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows of a run: a conversation and what a sub-agent did in it.
    fn rows(run: &str, at: &str) -> String {
        let id = run.replace('-', "_");
        let row = |id: &str, said: &str| {
            format!(
                r#"{{"messages":[{{"role":"user","content":"{said}"}}],"metadata":{{"id":"{id}","run_id":"{run}","created_at":"{at}","tool_calls":2,"overall":9.0}}}}"#
            )
        };
        format!("{}\n{}\n", row(&id, "hello"), row(&format!("{id}/call_6"), r#"the \"tool_calls\": 2"#))
    }

    fn found(first: &str, second: &str) -> String {
        compare(first, second, &[]).unwrap_err().to_string()
    }

    #[test]
    fn ids_and_times_may_differ_and_nothing_else() {
        let (one, other) = (rows("0199-a", "2026-01-01T00:00:00Z"), rows("0288-b", "2026-02-02T11:11:11Z"));
        assert_eq!(compare(&one, &other, &[]).unwrap(), Alike { rows: 2, bytes: other.len() });
        for (before, after, says) in [
            (r#""hello""#, r#""Hello""#, "row 1, /messages/0/content:\n  first:  \"hello\"\n  second: \"Hello\""),
            (
                "/call_6",
                "/call_7",
                "row 2, /metadata/id:\n  first:  \"[conversation]/call_6\"\n  second: \"[conversation]/call_7\"",
            ),
            (r#","overall":9.0"#, "", "row 1, /metadata/overall:\n  first:  9.0\n  second: (absent)"),
            (r#""overall":9.0"#, r#""overall":9"#, "row 1, /metadata/overall:\n  first:  9.0\n  second: 9"),
            (r#""tool_calls":2,"#, r#""tool_calls":2, "#, "row 1: the same values, but written differently"),
        ] {
            assert!(found(&one, &other.replacen(before, after, 1)).starts_with(says), "{before} {after}");
        }
        let (first, _) = one.split_once('\n').unwrap();
        assert_eq!(found(&one, first), "the first program made 2 rows, the second one 1");
        assert_eq!(found("", ""), "there are no rows to compare");
        assert!(compare("{}", "{}", &[]).is_err(), "what is no row is not compared");
    }

    #[test]
    fn fields_may_be_renamed() {
        let one = rows("0199-a", "2026-01-01T00:00:00Z");
        let other = one.replace(r#""tool_calls":"#, r#""calls":"#);
        let renamed = "tool_calls=calls".parse().unwrap();
        assert_eq!(compare(&one, &other, &[renamed]).unwrap().rows, 2);
        assert!(found(&one, &other).starts_with("row 1, /metadata/tool_calls:\n  first:  2\n  second: (absent)"));
        for wrong in ["a", "a=", "=b", "a=b=c"] {
            wrong.parse::<Renamed>().unwrap_err();
        }
    }
}
