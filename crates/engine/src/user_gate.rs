//! The turn gate: what a simulated user may not say.

mod budget;
mod ending;
mod knowledge;

use crate::case::Case;
use crate::conversation_state::State;

pub use ending::has_had_enough;

const SPEAKERS: [&str; 5] = ["agent:", "assistant:", "support:", "user:", "customer:"];

/// Why a turn is refused, in words for the model that is asked again; `None` lets it pass.
pub fn refusal(case: &Case, state: &State, content: &str, ended: bool) -> Option<String> {
    if ended && let Some(reason) = ending::too_early(case, state) {
        return Some(reason);
    }
    if content.is_empty() {
        return (!ended).then(|| "the message is empty".into());
    }
    wrong_speaker(content)
        .or_else(|| knowledge::unknown(case, state, content))
        .or_else(|| budget::broken(case, content, is_first(state)))
}

fn is_first(state: &State) -> bool {
    state.agent().messages.is_empty()
}

/// The fewest and the most words that the user may write now, if its complexity bounds them.
pub fn words(case: &Case, state: &State) -> Option<[u32; 2]> {
    let tier = case.speech.tier.as_ref()?;
    Some([if is_first(state) { tier.words[0] } else { 1 }, budget::most(tier)])
}

/// Whether the user may say that it has nothing more to say.
pub fn may_end(case: &Case, state: &State) -> bool {
    ending::too_early(case, state).is_none()
}

fn wrong_speaker(content: &str) -> Option<String> {
    let begins_with = |speaker: &&str| {
        let mut written = content.chars().flat_map(char::to_lowercase);
        speaker.chars().all(|c| written.next() == Some(c))
    };
    let named = SPEAKERS.iter().any(begins_with);
    named.then(|| "write only your own words, without a speaker's name".into())
}

#[cfg(test)]
mod tests;
