//! How much one request may name, and how large a document may be: checked before anything is done with it.
//!
//! Each limit is at least ten times what the shipped documents and the tests use. Others stand with their subject:
//! `project` and `library` for documents, `engine::limits` for code, templates and schemas, `filter` for filters,
//! `llm::limits` for replies, `http::limits` for addresses, headers and bodies.

use std::collections::BTreeSet;

use crate::patch::join;
use crate::problem::MOST_PROBLEMS;

/// Scenarios of a run. A project holds no more files, so a run can name all that there are; 72 are shipped.
pub const MOST_SCENARIOS: usize = 20_000;
/// Playbooks, personas, and sub-agents of a run; 3, 8 and 5 are shipped.
pub const MOST_NAMES: usize = 1_000;
/// Judges of a panel. Each one is asked about each conversation, and more than a handful change no median.
pub const MOST_JUDGES: usize = 50;
/// Fault rules of a run, and positions of each: few conversations make a hundred calls.
pub const MOST_FAULTS: usize = 1_000;
/// Tools that a fault rule names; the largest shipped playbook has some 20.
pub const MOST_TOOLS: usize = 300;
/// Endpoints of a model: as many as a large cluster has.
pub const MOST_REPLICAS: usize = 1_000;
/// Criteria that one rating or filter is about; the shipped judge has eight.
pub const MOST_CRITERIA: usize = 100;
/// A name of anything, in bytes.
pub const LONGEST_NAME: usize = 200;
/// An address of anything, in bytes.
pub const LONGEST_URL: usize = 2_000;

/// A YAML or JSON document, in bytes. The largest that is imported, an OpenAPI document, has 12 MB; the largest shipped one 25 kB.
pub const MOST_DOCUMENT_BYTES: usize = 16 << 20;
/// Values of a document: each takes some 200 bytes of memory, however few it takes in the text. A shipped one holds 1,500.
pub const MOST_DOCUMENT_VALUES: usize = 1_000_000;
/// Lists and mappings of a document within each other: what reads them calls itself. The deepest shipped one has 12 levels,
/// and JSON Schemas of imported tools up to 40.
pub const MOST_DOCUMENT_LEVELS: usize = 64;

/// Problems: the JSON pointer of a field (RFC 6901), and the reason.
pub type Findings = Vec<(String, String)>;

/// A list or a mapping with more than may be there. What is in it is then not looked at.
pub fn too_many(at: &str, len: usize, most: usize) -> Option<(String, String)> {
    (len > most).then(|| (at.to_owned(), format!("names {len} things, at most {most} can be named")))
}

/// A list of names: not too many, none twice, none that no name can be.
pub fn names<'a>(at: &str, names: impl ExactSizeIterator<Item = &'a String>, most: usize) -> Findings {
    if let Some(found) = too_many(at, names.len(), most) {
        return vec![found];
    }
    let mut known = BTreeSet::new();
    let wrong = names.enumerate().filter_map(|(i, name)| {
        let problem = name_problem(name).or_else(|| {
            let twice = !known.insert(name);
            twice.then(|| format!("`{name}` is named twice"))
        })?;
        Some((format!("{at}/{i}"), problem))
    });
    wrong.take(MOST_PROBLEMS + 1).collect()
}

/// The keys of a mapping, which are names.
pub fn keys<'a>(at: &str, keys: impl ExactSizeIterator<Item = &'a String>, most: usize) -> Findings {
    if let Some(found) = too_many(at, keys.len(), most) {
        return vec![found];
    }
    let wrong = keys.filter_map(|key| Some((join(at, key), name_problem(key)?)));
    wrong.take(MOST_PROBLEMS + 1).collect()
}

/// Why a text cannot be a name. Whether anything is called so is not checked.
pub fn name_problem(name: &str) -> Option<String> {
    let fits = (1..=LONGEST_NAME).contains(&name.len()) && !name.chars().any(char::is_control);
    (!fits).then(|| format!("expected a name of 1 to {LONGEST_NAME} bytes without control characters"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(list: &[&str], most: usize) -> Vec<String> {
        let list: Vec<String> = list.iter().map(ToString::to_string).collect();
        names("/a", list.iter(), most).into_iter().map(|(at, message)| format!("{at}: {message}")).collect()
    }

    #[test]
    fn lists_are_short_and_name_nothing_twice() {
        assert_eq!(check(&["x", "y"], 2), [""; 0]);
        assert_eq!(check(&["x", "y", "x"], 2), ["/a: names 3 things, at most 2 can be named"]);
        assert_eq!(check(&["x", "y", "x"], 3), ["/a/2: `x` is named twice"]);
        for bad in ["", "a\nb", &"x".repeat(201)] {
            assert_eq!(check(&[bad], 1), ["/a/0: expected a name of 1 to 200 bytes without control characters"]);
        }
        let many = vec![""; 500];
        assert_eq!(check(&many, 1000).len(), 101, "no more than is reported");
    }
}
