//! Input rows as JSON: the lines of a file, or a single one.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::bail;
use domain::Problem;
use domain::bad_input::BadInput;
use domain::dataset::LONGEST_ROW;
use domain::untrusted;
use serde_json::{Map, Value};

use crate::order::MOST_ROWS;

/// The rows of a file, an object a line. Blank lines are left out.
///
/// # Errors
/// The file cannot be read; or, as [`BadInput`], the line that is no row.
pub fn file(path: &Path) -> anyhow::Result<Vec<Map<String, Value>>> {
    let file = path.display().to_string();
    let opened = File::open(path).map_err(|error| BadInput::one(&file, error.to_string()))?;
    let (mut rows, mut reader) = (Vec::new(), BufReader::new(opened));
    for number in 1.. {
        let mut line = Vec::new();
        let read = reader.by_ref().take(LONGEST_ROW as u64 + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        let problem = |message: String| BadInput(vec![Problem::new(&file, number, "", message)]);
        if line.len() > LONGEST_ROW {
            bail!(problem(format!("is longer than {LONGEST_ROW} bytes")));
        }
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        if rows.len() == MOST_ROWS {
            bail!(problem(format!("is one row too many: at most {MOST_ROWS} are taken from a file")));
        }
        let text = str::from_utf8(line).map_err(|error| format!("is no text: {error}"));
        match text.and_then(row) {
            Ok(row) => rows.push(row),
            Err(message) if line.starts_with(b"{") => bail!(problem(message)),
            Err(message) => bail!(problem(format!(
                "{message}; the file must be JSONL, an object a line; for CSV, Parquet and others, make a dataset with \
                 `groundstate datasets add`"
            ))),
        }
    }
    Ok(rows)
}

/// One row.
///
/// # Errors
/// Why the text is none.
pub fn row(text: &str) -> Result<Map<String, Value>, String> {
    match untrusted::row(text) {
        Ok(Value::Object(row)) => Ok(row),
        Ok(_) => Err("is no JSON object".to_owned()),
        // Most texts are one line, which the parser calls line 1 wherever it stands.
        Err(error) => Err(format!("is no JSON object: {}", error.replace(" at line 1 column", ", column"))),
    }
}
