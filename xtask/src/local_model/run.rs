//! What a run came to, as `groundstate` says it.

use anyhow::{Context, Result};
use serde_json::Value;

/// A conversation that broke off before the agent said a word becomes no row, but it was played: figures are the run's,
/// and only scores are the rows'.
pub struct Run {
    /// What `groundstate runs show` prints.
    pub shown: String,
    pub rows: Vec<Value>,
}

impl Run {
    /// What stands behind a word at the start of a line.
    pub fn value_after(&self, word: &str) -> Result<&str> {
        let found = self.shown.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
        found.map(str::trim).with_context(|| format!("it does not say `{word}`:\n{}", self.shown))
    }

    /// What was asked of models that are not `scripted`, role by role.
    pub fn model_use(&self) -> Vec<ModelUse<'_>> {
        self.shown.lines().skip_while(|line| !line.starts_with("model calls:")).filter_map(ModelUse::read).collect()
    }
}

#[derive(Debug, PartialEq, Eq)]
pub struct ModelUse<'a> {
    pub role: String,
    pub model: &'a str,
    pub tokens_read: u64,
    pub tokens_written: u64,
}

impl<'a> ModelUse<'a> {
    /// `  simulated user    6    2    658    81%    57    0.0000  NAME`: role, calls, retries, tokens read, which share of
    /// them from a cache, tokens written, cost, model.
    fn read(line: &'a str) -> Option<Self> {
        let words: Vec<&str> = line.strip_prefix("  ")?.split_whitespace().collect();
        let [role @ .., calls, retries, read, _cached, written, cost, model] = words.as_slice() else { return None };
        let figures = [calls, retries, read, written].map(|figure| figure.parse::<u64>().ok());
        let (Some(tokens_read), Some(tokens_written), Ok(_)) = (figures[2], figures[3], cost.parse::<f64>()) else {
            return None;
        };
        Some(Self { role: role.join(" "), model, tokens_read, tokens_written })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_read_as_it_is_printed() {
        let shown = "\
run          01a20672-4ffe-7599-bca6-0be8c9e4394a
state        finished
finished     2 of 2
failures     2 by simulated user
model calls:                calls  retries  tokens read  from cache  tokens written      cost
  simulated user                6        2          658         81%              57    0.0000  smollm2-135m
  per accepted row: 12 tokens, cost 0.000000";
        let run = Run { shown: shown.into(), rows: Vec::new() };
        assert_eq!(run.value_after("failures").unwrap(), "2 by simulated user");
        assert_eq!(run.value_after("finished").unwrap(), "2 of 2");
        assert!(run.value_after("accepted").is_err());
        let user =
            ModelUse { role: "simulated user".into(), model: "smollm2-135m", tokens_read: 658, tokens_written: 57 };
        assert_eq!(run.model_use(), [user]);
    }
}
