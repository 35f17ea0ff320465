//! YAML as people write it who know it: what fits on a line stands on one, within brackets.

use serde_json::{Map, Value};

use super::text;

/// Longest line with brackets.
const WIDTH: usize = 96;

/// A map or list in block style whose inner maps and lists are written within brackets where they fit on their line.
/// [`super::value`] reads the same value back.
pub fn compact(value: &Value) -> String {
    match value {
        Value::Object(map) if !map.is_empty() => fields(map, 0),
        Value::Array(list) if !list.is_empty() => items(list, 0),
        other => text(other),
    }
}

fn fields(map: &Map<String, Value>, indent: usize) -> String {
    map.iter().map(|(key, value)| field(key, value, indent)).collect()
}

fn field(key: &str, value: &Value, indent: usize) -> String {
    let name = format!("{}{}", " ".repeat(indent), scalar(key));
    let short = flow(value).filter(|short| name.len() + 2 + short.len() <= WIDTH);
    match (value, short) {
        (Value::Array(_) | Value::Object(_), Some(short)) => format!("{name}: {short}\n"),
        (Value::Object(map), None) => format!("{name}:\n{}", fields(map, indent + 2)),
        (Value::Array(list), None) => format!("{name}:\n{}", items(list, indent + 2)),
        (plain, _) => shifted(&text(&Value::Object(Map::from_iter([(key.to_owned(), plain.clone())]))), indent),
    }
}

fn items(list: &[Value], indent: usize) -> String {
    list.iter().map(|value| item(value, indent)).collect()
}

fn item(value: &Value, indent: usize) -> String {
    let inner = indent + 2;
    let short = flow(value).filter(|short| value.is_array() && inner + short.len() <= WIDTH);
    let block = match (value, short) {
        (Value::Object(map), _) if !map.is_empty() => fields(map, inner),
        (Value::Array(_), Some(short)) => format!("{}{short}\n", " ".repeat(inner)),
        (Value::Array(list), None) => items(list, inner),
        (plain, _) => return shifted(&text(&Value::Array(vec![plain.clone()])), indent),
    };
    // The dash stands in the first line's indentation.
    format!("{}- {}", " ".repeat(indent), &block[inner..])
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
