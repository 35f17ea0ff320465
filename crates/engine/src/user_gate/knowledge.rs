//! What a user cannot know: facts that are invented, and those that leak from the records behind the agent.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;

use domain::message::Message;

use crate::case::{Case, UserKnowledge, parts};
use crate::conversation_state::State;
use crate::facts;
use crate::world::Node;

/// Why a turn states what the user cannot know.
pub fn unknown(case: &Case, state: &State, content: &str) -> Option<String> {
    let shared = case.shared();
    let known = Knowledge { from_start: shared.known(&case.scenario, case.complexity), case, state };
    let world = case.initial.world.root();
    if let Some(fact) = checkable(content).find(|fact| !is_small(fact) && !known.holds(fact)) {
        let holds = |text: &str| facts::forms(text).any(|word| word == fact);
        return Some(if any_text(world, &holds) { leaked(&fact) } else { invented(&fact) });
    }
    let names: HashSet<String> = facts::names(content).filter(|name| !known.holds(name)).collect();
    if names.is_empty() {
        return None;
    }
    let leak = OnceCell::new();
    // A name is a value of its own. One that stands within prose is likely an ordinary word.
    any_text(world, &|text| {
        let is_name = text.starts_with(char::is_uppercase) && facts::forms(text).any(|word| names.contains(&*word));
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
fn checkable(text: &str) -> impl Iterator<Item = Cow<'_, str>> + '_ {
    facts::forms_where(text, can_be).filter(|word| can_be(word))
}

fn can_be(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_digit() || b == b'@')
}

/// Counts and ways of speaking ("2 cards", "5 minutes", "the 24th", "10am") are no facts about records.
fn is_small(fact: &str) -> bool {
    let digits = fact.bytes().filter(u8::is_ascii_digit).count();
    fact.len() <= 2 || (digits <= 2 && fact.starts_with(|c: char| c.is_ascii_digit()) && !fact.contains('@'))
}

/// What the user knows, and what was said before. Texts that few turns ask for are read when one does.
struct Knowledge<'a> {
    from_start: &'a UserKnowledge,
    case: &'a Case,
    state: &'a State,
}

impl Knowledge<'_> {
    fn holds(&self, word: &str) -> bool {
        self.from_start.holds(word) || self.known_texts().any(|text| contains_word(text, word))
    }

    fn known_texts(&self) -> impl Iterator<Item = &str> {
        // Its own words, the agent's, and what its own tools told it.
        let heard = self.state.transcript.user.messages.iter().rev().map(Message::content);
        // Where it lives, and whom it writes to.
        let company = &self.case.playbook.spec;
        heard.chain([&*company.title, &*company.description]).chain(self.case.guidance.iter().map(String::as_str))
    }
}

/// Whether a word, or a part of one with digits, is this one.
fn contains_word(text: &str, word: &str) -> bool {
    let is_it = |said: &str| said == word || (facts::has_digit(said) && parts(said).any(|part| part == word));
    facts::forms(text).any(|said| said.contains(word) && is_it(&said))
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
