//! Text files: each line that is not blank is a row with one column, `text`.

use std::io::BufRead;
use std::iter::from_fn;

use serde_json::Value;

use super::PlacedRow;
use super::lines::Lines;
use crate::dataset::Row;
use crate::dataset::bad_source::{Place, SourceError};

pub fn rows(file: &str, from: Box<dyn BufRead>) -> impl Iterator<Item = Result<PlacedRow, SourceError>> + use<> {
    let mut lines = Lines::new(file, from);
    from_fn(move || next(&mut lines).transpose()).fuse()
}

fn next(lines: &mut Lines) -> Result<Option<PlacedRow>, SourceError> {
    let Some((number, line)) = lines.next()? else { return Ok(None) };
    let row = Row::from_iter([("text".to_owned(), Value::String(line.to_owned()))]);
    if line.contains('\0') {
        return Err(lines.wrong("the text holds the character U+0000".to_owned()));
    }
    Ok(Some(PlacedRow { place: Place::Line(number), bytes: line.len(), row }))
}
