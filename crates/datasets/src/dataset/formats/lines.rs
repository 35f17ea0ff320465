//! Lines of a file, none longer than a row may be.

use std::io::{BufRead, Read as _};

use domain::dataset::LONGEST_ROW;

use super::cannot_read;
use crate::dataset::bad_source::{Place, SourceError};

pub struct Lines {
    file: String,
    from: Box<dyn BufRead>,
    number: u64,
    line: Vec<u8>,
}

impl Lines {
    pub fn new(file: &str, from: Box<dyn BufRead>) -> Self {
        Self { file: file.to_owned(), from, number: 0, line: Vec::new() }
    }

    /// The next line that is not blank, without its end; and its number, from 1. `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read, or the line is no text or too long.
    pub fn next(&mut self) -> Result<Option<(u64, &str)>, SourceError> {
        loop {
            self.line.clear();
            let read = (&mut self.from).take(LONGEST_ROW as u64 + 2).read_until(b'\n', &mut self.line);
            self.number += 1;
            if read.map_err(|error| self.unreadable(&error))? == 0 {
                return Ok(None);
            }
            let end = self.line.trim_ascii_end().len();
            if end > LONGEST_ROW {
                return Err(self.wrong(format!("the line is longer than the {LONGEST_ROW} bytes that a row may have")));
            }
            let start = if self.number == 1 && self.line.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
            if !self.line[start..].trim_ascii().is_empty() {
                // Only what ends the line is cut off; blanks may belong to a text.
                let end = if self.line.ends_with(b"\n") { self.line.len() - 1 } else { self.line.len() };
                let end = if self.line[..end].ends_with(b"\r") { end - 1 } else { end };
                self.line.truncate(end);
                return match std::str::from_utf8(&self.line[start..]) {
                    Ok(line) => Ok(Some((self.number, line))),
                    Err(error) => Err(self.wrong(format!("it is not UTF-8 text: {error}"))),
                };
            }
        }
    }

    /// What is wrong with the line that was read last.
    pub fn wrong(&self, message: String) -> SourceError {
        SourceError::new(&self.file, Place::Line(self.number), message)
    }

    fn unreadable(&self, error: &std::io::Error) -> SourceError {
        SourceError { place: Place::Line(self.number), ..cannot_read(&self.file, error) }
    }
}
