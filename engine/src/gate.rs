//! The turn gate: what a simulated user may not say. First cut: empty turns, the wrong speaker, an end before the
//! beginning, and facts that the user cannot know.

use std::collections::HashSet;

use domain::message::Message;

use crate::case::Case;
use crate::conversation::State;
use crate::facts;

/// Why a turn is refused, in words for the model that is asked again; `None` lets it pass.
pub fn refusal(case: &Case, state: &State, content: &str, ended: bool) -> Option<String> {
    let first = state.agent().messages.is_empty();
    if ended && first {
        return Some("you cannot end the conversation with your first message".into());
    }
    if content.is_empty() {
        return (!ended).then(|| "the message is empty".into());
    }
    let lower = content.to_lowercase();
    if ["agent:", "assistant:", "support:", "user:", "customer:"].iter().any(|speaker| lower.starts_with(speaker)) {
        return Some("write only your own words, without a speaker's name".into());
    }
    unknown_fact(case, state, content)
        .map(|fact| format!("`{fact}` is nothing you know: it is neither in your facts nor was it told to you"))
}

/// The first atomic fact of a turn that stands neither in what the user knows nor in what was said before.
fn unknown_fact(case: &Case, state: &State, content: &str) -> Option<String> {
    let mut known: HashSet<String> = facts::tokens(&case.scenario.user_goal).collect();
    for (_, value) in case.scenario.user_knowledge() {
        known.extend(facts::tokens(&value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
    }
    for line in case.scenario.script.iter().filter_map(|step| step.user.as_ref()) {
        known.extend(
            facts::tokens(line.at(case.complexity)).chain(facts::tokens(line.at(domain::persona::Complexity::Medium))),
        );
    }
    // Its own words, the agent's, and what its own tools told it.
    known.extend(state.user.messages.iter().map(Message::content).flat_map(facts::tokens));
    // Small numbers are counts and ways of speaking ("2 cards", "5 minutes"), not facts about records.
    facts::tokens(content).find(|fact| fact.len() > 2 && !known.contains(fact))
}
