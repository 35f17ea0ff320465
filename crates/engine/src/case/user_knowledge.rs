//! What the user of a scenario knows before the first word.

use std::collections::HashSet;

use domain::persona::Complexity;
use domain::scenario::Scenario;

use crate::facts;

/// Facts that the user may state.
#[derive(Debug, Default)]
pub struct UserKnowledge {
    words: HashSet<String>,
    /// Whole values without spaces and signs: `07700 900115` may be said as `07700900115`.
    values: HashSet<String>,
}

impl UserKnowledge {
    pub fn of(scenario: &Scenario, complexity: Complexity) -> Self {
        let mut known = Self::default();
        for (_, value) in scenario.user_knowledge() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            known.add(&text);
            known.values.insert(bare(&text));
        }
        for line in scenario.script.iter().filter_map(|step| step.user.as_ref()) {
            known.add(line.at(complexity));
            known.add(line.at(Complexity::Medium));
        }
        known.add(&scenario.user_goal);
        known
    }

    /// Whether a word is among them, or a value that may be written otherwise.
    pub fn holds(&self, word: &str) -> bool {
        self.words.contains(word) || self.values.contains(&bare(word))
    }

    /// Words, and the parts of those with digits: who knows a date knows its year.
    fn add(&mut self, text: &str) {
        for word in facts::words(text) {
            if facts::has_digit(&word) {
                self.words.extend(parts(&word).map(str::to_owned));
            }
            self.words.insert(word);
        }
    }
}

/// A word that was made of several: a date, an id.
pub fn parts(word: &str) -> impl Iterator<Item = &str> {
    word.split(|c: char| !c.is_alphanumeric())
}

fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
