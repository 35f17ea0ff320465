//! What is wrong with a file that rows are read from.

use std::fmt;

/// Where in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    WholeFile,
    /// From 1.
    Line(u64),
    /// From 1, in formats without lines.
    Row(u64),
}

/// A file that cannot become rows: where, why, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct SourceError {
    pub file: String,
    pub place: Place,
    pub message: String,
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, place, message } = self;
        match place {
            Place::WholeFile => write!(f, "{file}: {message}"),
            Place::Line(line) => write!(f, "{file}, line {line}: {message}"),
            Place::Row(row) => write!(f, "{file}, row {row}: {message}"),
        }
    }
}

impl SourceError {
    pub fn new(file: &str, place: Place, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), place, message: message.into() }
    }

    pub fn whole(file: &str, message: impl Into<String>) -> Self {
        Self::new(file, Place::WholeFile, message)
    }
}
