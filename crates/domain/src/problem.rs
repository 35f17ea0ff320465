//! What is wrong with a document, said so that its author can mend it.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    pub file: String,
    /// 1-based; 0 when the problem has no place in the text.
    pub line: usize,
    /// Dotted path of the field, such as `tools[2].simulate`; empty for the whole document.
    pub field: String,
    pub message: String,
}

impl Problem {
    pub fn new(file: impl Into<String>, line: usize, field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), line, field: field.into(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        f.write_str(": ")?;
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.message)
    }
}

/// The candidate that a mistyped name most likely means, as ` (did you mean `x`?)`, or nothing.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates).map(|c| format!(" (did you mean `{c}`?)")).unwrap_or_default()
}

/// Longer than any name; comparing costs memory for each pair of letters.
const LONGEST_NAME: usize = 100;

fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    candidates
        .into_iter()
        .map(|c| (strsim::normalized_damerau_levenshtein(name, c), c))
        .filter(|(score, _)| *score >= 0.5)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, c)| c)
}
