//! YAML as people write it who know it: what fits on a line stands on one, within brackets.

use serde_json::{Map, Value};

use super::text;

/// Longest line with brackets.
const WIDTH: usize = 96;

/// A map or list in block style whose inner maps and lists are written within brackets where they fit on their line.
/// [`super::value`] reads the same value back.
pub fn compact(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => fields(map, 0, &mut out),
        Value::Array(list) if !list.is_empty() => items(list, 0, &mut out),
        other => out = text(other),
    }
    out
}

fn fields(map: &Map<String, Value>, indent: usize, out: &mut String) {
    for (key, value) in map {
        let key_text = scalar(key);
        let short = flow(value).filter(|short| indent + key_text.len() + 2 + short.len() <= WIDTH);
        let pad = " ".repeat(indent);
        match (value, short) {
            (Value::Array(_) | Value::Object(_), Some(short)) => *out += &format!("{pad}{key_text}: {short}\n"),
            (Value::Object(map), None) => {
                *out += &format!("{pad}{key_text}:\n");
                fields(map, indent + 2, out);
            }
            (Value::Array(list), None) => {
                *out += &format!("{pad}{key_text}:\n");
                items(list, indent + 2, out);
            }
            (plain, _) => {
                *out += &shifted(&text(&Value::Object(Map::from_iter([(key.clone(), plain.clone())]))), indent)
            }
        }
    }
}

fn items(list: &[Value], indent: usize, out: &mut String) {
    for item in list {
        let short = flow(item).filter(|short| item.is_array() && indent + 2 + short.len() <= WIDTH);
        let block = match (item, short) {
            (Value::Object(map), _) if !map.is_empty() => {
                let mut block = String::new();
                fields(map, indent + 2, &mut block);
                block
            }
            (Value::Array(_), Some(short)) => format!("{}{short}\n", " ".repeat(indent + 2)),
            (Value::Array(list), None) => {
                let mut block = String::new();
                items(list, indent + 2, &mut block);
                block
            }
            (plain, _) => {
                *out += &shifted(&text(&Value::Array(vec![plain.clone()])), indent);
                continue;
            }
        };
        // The dash stands in the first line's indentation.
        *out += &format!("{}- {}", " ".repeat(indent), &block[indent + 2..]);
    }
}

/// Within brackets; nothing if a text in it has several lines.
fn flow(value: &Value) -> Option<String> {
    Some(match value {
        Value::String(text) if text.contains('\n') => return None,
        Value::String(text) => scalar(text),
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Option<Vec<_>>>()?.join(", ")),
        Value::Object(map) => {
            let fields = map.iter().map(|(key, value)| Some(format!("{}: {}", scalar(key), flow(value)?)));
            format!("{{{}}}", fields.collect::<Option<Vec<_>>>()?.join(", "))
        }
        other => other.to_string(),
    })
}

/// A text as it is, if no YAML reader could take it for anything else; otherwise quoted.
pub(super) fn scalar(text: &str) -> String {
    let first = text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '$' | '_'));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '+' | '$' | '.' | '-' | ' ');
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"];
    let meant = words.contains(&text.to_ascii_lowercase().as_str());
    if first && !meant && text.chars().all(plain) && text.trim_end() == text {
        text.to_owned()
    } else {
        Value::from(text).to_string()
    }
}

pub(super) fn shifted(block: &str, indent: usize) -> String {
    let pad = " ".repeat(indent);
    block.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{pad}{line}\n") }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_fits_stands_on_a_line_and_reads_back() {
        let value = json!({
            "name": "list_loans",
            "tags": ["a b", "yes", "c: d", "#e", "", "1", 1, 2.5, null, true],
            "empty": [{}, [], {"a": []}],
            "nested": [[1, [2]], [["x".repeat(60), "y".repeat(60)], 3]],
            "parameters": {
                "type": "object", "required": ["loan_id"],
                "properties": {"loan_id": {"type": "string", "pattern": "^loan_[0-9a-z]{4,16}$"}, "note": {"description": "It's\ntwo \"lines\""}}
            },
            "steps": [{"user": "Hello,\n\nyou"}, {"calls": [{"tool": "get_loan", "args": {"loan_id": "{{ x }}"}}], "$why": "-"}]
        });
        let text = compact(&value);
        insta::assert_snapshot!(text, @r##"
        name: list_loans
        tags: [a b, "yes", "c: d", "#e", "", "1", 1, 2.5, null, true]
        empty: [{}, [], {a: []}]
        nested:
          - [1, [2]]
          - - - xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
              - yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy
            - 3
        parameters:
          type: object
          required: [loan_id]
          properties:
            loan_id: {type: string, pattern: "^loan_[0-9a-z]{4,16}$"}
            note:
              description: |-
                It's
                two "lines"
        steps:
          - user: |-
              Hello,
              
              you
          - calls: [{tool: get_loan, args: {loan_id: "{{ x }}"}}]
            $why: "-"
        "##);
        assert_eq!(super::super::value("a", &text).map(|read| read.value), Ok(value));
    }
}
