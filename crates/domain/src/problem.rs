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

/// Problems that are listed one by one: more than somebody mends at a time, and an answer that stays small.
pub const MOST_PROBLEMS: usize = 100;
/// Known names that a message lists.
const MOST_LISTED: usize = 50;
/// Longer than any name of ours.
const LONGEST_NAME: usize = 100;
/// Pairs of letters that are compared to find one name: some 5 ms. A thousand candidates of 20 letters.
const MOST_COMPARED: usize = 400_000;

/// The first wrong things, each explained, and how many more there are: nothing is explained that is not listed.
pub fn explained<W, T>(
    most: usize,
    wrong: impl IntoIterator<Item = W>,
    explain: impl FnMut(W) -> T,
    more: impl FnOnce(String) -> T,
) -> Vec<T> {
    let mut wrong = wrong.into_iter();
    let mut found: Vec<T> = wrong.by_ref().take(most).map(explain).collect();
    if let rest @ 1.. = wrong.count() {
        found.push(more(and_more(rest)));
    }
    found
}

/// In place of the problems that are not listed.
pub fn and_more(rest: usize) -> String {
    format!("and {rest} more {}, not listed", if rest == 1 { "problem" } else { "problems" })
}

/// Names for a message: all, or the first ones and how many there are besides.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let first: Vec<&str> = names.by_ref().take(MOST_LISTED).collect();
    match names.count() {
        _ if first.is_empty() => "none".to_owned(),
        0 => first.join(", "),
        rest => format!("{} and {rest} more", first.join(", ")),
    }
}

/// The candidate that a mistyped name most likely means, as ` (did you mean `x`?)`, or nothing.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates).map(|c| format!(" (did you mean `{c}`?)")).unwrap_or_default()
}

/// Says that nothing is called so, what was likely meant, and what there is.
pub fn unknown<'a>(kind: &str, name: &str, known: impl Iterator<Item = &'a String> + Clone) -> String {
    let hint = did_you_mean(name, known.clone().map(String::as_str));
    format!("there is no {kind} `{name}`{hint}; known: {}", listed(known.map(String::as_str)))
}

fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let mut left = MOST_COMPARED;
    candidates
        .into_iter()
        // A name of less than half or more than twice the length cannot be similar enough.
        .filter(|c| c.len() / 2 <= name.len() && name.len() / 2 <= c.len() && c.len() <= LONGEST_NAME)
        .map_while(|c| {
            left = left.checked_sub(name.len().max(1) * c.len().max(1))?;
            Some((strsim::normalized_damerau_levenshtein(name, c), c))
        })
        .filter(|(score, _)| *score >= 0.5)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|n| format!("scenario_{n:06}")).collect()
    }

    #[test]
    fn the_nearest_name_is_found() {
        let names = ["refund", "reopen", "relocate"];
        assert_eq!(did_you_mean("refnd", names), " (did you mean `refund`?)");
        assert_eq!(did_you_mean("xyz", names), "");
        assert_eq!(did_you_mean("", names), "");
    }

    #[test]
    fn little_is_compared_and_little_is_listed() {
        let names = names(200_000);
        let known = || names.iter().map(String::as_str);
        assert_eq!(did_you_mean("scenario_00000x", known()), " (did you mean `scenario_000009`?)");
        let hint = did_you_mean("scenario_199999x", known());
        assert!(!hint.contains("scenario_199999"), "all 200,000 were compared");
        let listed = listed(known());
        assert!(listed.starts_with("scenario_000000, ") && listed.ends_with(", scenario_000049 and 199950 more"));
    }

    #[test]
    fn names_are_listed_whole_while_they_are_few() {
        for n in [1, 49, 50] {
            assert_eq!(listed(names(n).iter().map(String::as_str)), names(n).join(", "));
        }
        assert_eq!(listed([]), "none");
    }

    #[test]
    fn problems_are_counted_when_they_are_many() {
        let explain = |n: usize| explained(MOST_PROBLEMS, 0..n, |n| n.to_string(), |more| more);
        assert_eq!(explain(100).last().map(String::as_str), Some("99"));
        let found = explain(250);
        assert_eq!((found.len(), found[100].as_str()), (101, "and 150 more problems, not listed"));
    }
}
