//! JSON lines: each line that is not blank is an object, whose keys are the columns.

use std::io::BufRead;
use std::iter::from_fn;

use domain::untrusted;
use serde_json::Value;

use super::PlacedRow;
use super::lines::Lines;
use crate::dataset::bad_source::{Place, SourceError};

pub fn rows(file: &str, from: Box<dyn BufRead>) -> impl Iterator<Item = Result<PlacedRow, SourceError>> + use<> {
    let mut lines = Lines::new(file, from);
    from_fn(move || next(&mut lines).transpose()).fuse()
}

fn next(lines: &mut Lines) -> Result<Option<PlacedRow>, SourceError> {
    let Some((number, line)) = lines.next()? else { return Ok(None) };
    let bytes = line.len();
    let begins_list = number == 1 && line.trim_start().starts_with('[');
    let message = match untrusted::row(line) {
        Ok(Value::Object(row)) => return Ok(Some(PlacedRow { place: Place::Line(number), bytes, row })),
        _ if begins_list => {
            "the file is a JSON array, and each line must be an object; write it with: jq -c '.[]'".to_owned()
        }
        Ok(other) => format!("expected a JSON object, found {}", kind_of(&other)),
        Err(error) => format!("it is no JSON object that can be kept: {}", in_line(&error)),
    };
    Err(lines.wrong(message))
}

/// The parser counts lines within the one that it was given.
fn in_line(error: &str) -> String {
    error.replace(" at line 1 column ", " at column ")
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
