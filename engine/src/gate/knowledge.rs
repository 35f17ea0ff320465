//! What a user cannot know: facts that are invented, and those that leak from the records behind the agent.

use std::cell::OnceCell;
use std::collections::HashSet;

use domain::persona::Complexity;

use crate::case::Case;
use crate::conversation::State;
use crate::facts;
use crate::world::Node;

/// Why a turn states what the user cannot know.
pub fn unknown(case: &Case, state: &State, content: &str) -> Option<String> {
    let known = Known::new(case, state);
    let world = case.initial.world.root();
    if let Some(fact) = checkable(content).find(|fact| !is_small(fact) && !known.holds(fact)) {
        let holds = |text: &str| facts::words(text).any(|word| word == fact);
        return Some(if any_text(world, &holds) { leaked(&fact) } else { invented(&fact) });
    }
    let names: HashSet<String> = facts::names(content).filter(|name| !known.holds(name)).collect();
    if names.is_empty() {
        return None;
    }
    let leak = OnceCell::new();
    // A name is a value of its own. One that stands within prose is likely an ordinary word.
    any_text(world, &|text| {
        let is_name = text.starts_with(char::is_uppercase) && facts::words(text).any(|word| names.contains(&word));
        is_name && facts::states(content, text) && leak.set(text.to_owned()).is_ok()
    });
    leak.get().map(|name| leaked(name))
}

fn leaked(fact: &str) -> String {
    format!(
        "`{fact}` stands in the company's records, which you do not see: it is neither in your facts nor was it told to you"
    )
}

fn invented(fact: &str) -> String {
    format!("`{fact}` is nothing you know: it is neither in your facts nor was it told to you")
}

/// Ids, dates, amounts, and addresses of e-mail.
fn checkable(text: &str) -> impl Iterator<Item = String> + '_ {
    facts::words(text).filter(|word| word.contains('@') || word.bytes().any(|b| b.is_ascii_digit()))
}

/// Counts and ways of speaking ("2 cards", "5 minutes", "the 24th", "10am") are no facts about records.
fn is_small(fact: &str) -> bool {
    let digits = fact.bytes().filter(u8::is_ascii_digit).count();
    fact.len() <= 2 || (digits <= 2 && fact.starts_with(|c: char| c.is_ascii_digit()) && !fact.contains('@'))
}

/// What the user knows, and what was said before.
struct Known {
    words: HashSet<String>,
    /// Whole values without spaces and signs: `07700 900115` may be said as `07700900115`.
    values: HashSet<String>,
}

impl Known {
    fn new(case: &Case, state: &State) -> Self {
        let mut known = Self { words: HashSet::new(), values: HashSet::new() };
        for (_, value) in case.scenario.user_knowledge() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            known.add(&text);
            known.values.insert(bare(&text));
        }
        for line in case.scenario.script.iter().filter_map(|step| step.user.as_ref()) {
            known.add(line.at(case.complexity));
            known.add(line.at(Complexity::Medium));
        }
        // Where it lives, and whom it writes to.
        let company = &case.playbook.spec;
        let told = [&case.scenario.user_goal, &company.title, &company.description].into_iter().chain(&case.guidance);
        for text in told {
            known.add(text);
        }
        // Its own words, the agent's, and what its own tools told it.
        for message in &state.user.messages {
            known.add(message.content());
        }
        known
    }

    /// Words, and the parts of those with digits: who knows a date knows its year.
    fn add(&mut self, text: &str) {
        for word in facts::words(text) {
            if word.bytes().any(|b| b.is_ascii_digit()) {
                self.words.extend(word.split(|c: char| !c.is_alphanumeric()).map(str::to_owned));
            }
            self.words.insert(word);
        }
    }

    fn holds(&self, word: &str) -> bool {
        self.words.contains(word) || self.values.contains(&bare(word))
    }
}

fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a text, number or key within passes. Keys count because records stand under their ids.
fn any_text(node: &Node, passes: &impl Fn(&str) -> bool) -> bool {
    match node {
        Node::Null | Node::Bool(_) => false,
        Node::Number(number) => passes(&number.to_string()),
        Node::Text(text) => passes(text),
        Node::List(list) => list.iter().any(|item| any_text(item, passes)),
        Node::Map(map) => map.iter().any(|(key, value)| passes(key) || any_text(value, passes)),
    }
}
