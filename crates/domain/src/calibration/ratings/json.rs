//! Ratings as a JSON list of objects.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::table::{MAX_COLUMNS, Row, Table};
use super::{Problems, short};
use crate::untrusted;

pub fn table(text: &str, problems: &mut Problems) -> Option<Table> {
    let items = match untrusted::json(text) {
        Ok(Value::Array(items)) => items,
        Ok(_) => {
            problems.add(1, "", "is not a list; expected a list of objects, one for each rating".to_owned());
            return None;
        }
        Err(reason) => {
            problems.add(0, "", format!("is not valid JSON: {reason}"));
            return None;
        }
    };
    let lines = lines_of_items(text);
    let mut table = Table { header: 0, columns: Vec::new(), rows: Vec::new() };
    let mut places = HashMap::new();
    for (i, item) in items.into_iter().enumerate() {
        let line = lines.get(i).copied().unwrap_or_default();
        match item {
            Value::Object(object) => {
                let cells = cells(object, line, &mut table.columns, &mut places, problems);
                table.rows.push(Row { line, cells });
                if table.columns.len() > MAX_COLUMNS {
                    problems.add(
                        line,
                        "",
                        format!("brings in column {}; at most {MAX_COLUMNS} are read", table.columns.len()),
                    );
                    return None;
                }
            }
            _ => problems.add(line, "", format!("entry {} is not an object", i + 1)),
        }
    }
    for row in &mut table.rows {
        row.cells.resize(table.columns.len(), String::new());
    }
    Some(table)
}

/// The values as texts, each in the place of its column; columns are made as they come.
fn cells(
    object: Map<String, Value>,
    line: usize,
    columns: &mut Vec<String>,
    places: &mut HashMap<String, usize>,
    problems: &mut Problems,
) -> Vec<String> {
    let mut cells = vec![String::new(); columns.len()];
    for (name, value) in object {
        let place = *places.entry(name).or_insert_with_key(|name| {
            columns.push(name.clone());
            columns.len() - 1
        });
        cells.resize(columns.len(), String::new());
        cells[place] = match value {
            Value::Null => String::new(),
            Value::String(text) => text.trim().to_owned(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Array(_) | Value::Object(_) => {
                problems.add(line, &short(&columns[place]), "is a list or an object, expected one value".to_owned());
                String::new()
            }
        };
    }
    cells
}

/// Where each entry of the outer list begins, 1-based. The text is known to be JSON.
fn lines_of_items(text: &str) -> Vec<usize> {
    let mut lines = Vec::new();
    let (mut line, mut depth, mut awaited) = (1, 0, false);
    let (mut in_text, mut escaped) = (false, false);
    for c in text.chars() {
        line += usize::from(c == '\n');
        if in_text {
            in_text = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
            continue;
        }
        if awaited && !c.is_whitespace() && c != ']' {
            lines.push(line);
            awaited = false;
        }
        match c {
            '"' => in_text = true,
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ => {}
        }
        awaited |= depth == 1 && matches!(c, '[' | ',');
    }
    lines
}
