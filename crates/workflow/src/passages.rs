//! The passages that stand beside a workflow, in place of an index: for samples, checks and demonstrations.

use std::collections::BTreeSet;

use domain::document;
use domain::problem::Problem;
use serde_json::{Value, json};

/// The file with a passage a line: `{id, title, text, url}`.
pub const PASSAGES: &str = "passages.jsonl";

/// Passages of a file; an index is there for more.
const MOST_PASSAGES: usize = 10_000;

#[derive(Debug, Default)]
pub struct Passages(Vec<(BTreeSet<String>, Value)>);

impl Passages {
    /// # Errors
    /// Lines that are no passages.
    pub fn read(file: &str, text: &str) -> Result<Self, Vec<Problem>> {
        let (mut all, mut problems) = (Vec::new(), Vec::new());
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            if all.len() == MOST_PASSAGES {
                problems.push(Problem::new(
                    file,
                    i + 1,
                    "",
                    format!("is one passage too many: at most {MOST_PASSAGES}"),
                ));
                break;
            }
            // JSON is YAML, and this reader bounds what it reads.
            let read = document::value(file, line).map(|located| located.value);
            match read.ok().filter(|value| value["id"].is_string() && value["text"].is_string()) {
                Some(passage) => all.push((words(passage["text"].as_str().unwrap_or_default()), passage)),
                None => problems.push(Problem::new(file, i + 1, "", "is no passage: expected {id, title, text, url}")),
            }
        }
        if problems.is_empty() { Ok(Self(all)) } else { Err(problems) }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those that share the most words with a query, best first, ties by id. `message`: `{query, k}`.
    pub fn search(&self, message: &Value) -> Value {
        let query = words(message["query"].as_str().unwrap_or_default());
        let shared = |own: &BTreeSet<String>| query.intersection(own).count();
        let scored = self.0.iter().map(|(own, passage)| (shared(own), passage));
        let mut found: Vec<(usize, &Value)> = scored.filter(|(score, _)| *score > 0).collect();
        found.sort_by(|(a, p), (b, q)| b.cmp(a).then_with(|| p["id"].as_str().cmp(&q["id"].as_str())));
        let most = usize::try_from(message["k"].as_u64().unwrap_or(10)).unwrap_or(usize::MAX);
        let text = |passage: &Value, key: &str| passage[key].as_str().unwrap_or_default().to_owned();
        let hit = |(score, passage): (usize, &Value)| {
            json!({"id": text(passage, "id"), "title": text(passage, "title"), "text": text(passage, "text"),
                   "url": text(passage, "url"), "score": score})
        };
        found.into_iter().take(most).map(hit).collect()
    }
}

fn words(text: &str) -> BTreeSet<String> {
    let bare = |word: &str| word.trim_matches(|c| ".,;:!?\"'()".contains(c)).to_lowercase();
    text.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_come_first() {
        let file = "{\"id\": \"b\", \"text\": \"Bees make honey.\"}\n{\"id\": \"a\", \"text\": \"Bees fly\"}\n\n{\"id\": \"c\", \"text\": \"x\"}";
        let passages = Passages::read("p", file).unwrap();
        let ids = |query: &str, k: u64| {
            let found = passages.search(&json!({"query": query, "k": k}));
            found.as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(ids("honey of bees?", 10), ["b", "a"]);
        assert_eq!(ids("bees", 1), ["a"]);
        assert!(ids("nothing", 5).is_empty());
        assert_eq!(
            Passages::read("p", "{\"id\": 1}").unwrap_err()[0].to_string(),
            "p:1: is no passage: expected {id, title, text, url}"
        );
    }
}
