//! The word budget of the complexity tier, and what a vague user leaves unsaid.

use domain::persona::Tier;
use domain::scenario::Scenario;

use crate::case::Case;
use crate::facts;

/// How a turn breaks the tier's rules. `first`: nothing was said before it.
pub fn broken(case: &Case, content: &str, first: bool) -> Option<String> {
    let tier = case.speech.tier.as_ref()?;
    // `scripted` says the author's lines at every complexity, as they are. No other model sees them.
    if is_scripted(&case.scenario, content) {
        return None;
    }
    let ([fewest, told], words) = (tier.words, count(content));
    if words > most(tier) as usize {
        return Some(format!("the message has {words} words: write at most {told}"));
    }
    if first && words < fewest as usize {
        return Some(format!("the message has {words} words: your first one has at least {fewest}"));
    }
    let told = first && tier.hides_intent && names(&case.scenario.intent, content);
    told.then(|| "your first message says outright what you need: let it be guessed from a feeling or a symptom".into())
}

/// Words that are let pass. It is told fewer.
pub fn most(tier: &Tier) -> u32 {
    tier.words[1].saturating_add(tier.spare_words)
}

fn is_scripted(scenario: &Scenario, content: &str) -> bool {
    let lines = scenario.script.iter().filter_map(|step| step.user.as_ref());
    lines.flat_map(|line| line.texts()).any(|line| line.trim() == content)
}

/// Words as people count them: dashes and emoji are none.
fn count(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

/// Whether a text says all that the intent's name says. A part is no more than a symptom: whose phone is in a taxi has
/// not said that it is lost.
fn names(intent: &str, text: &str) -> bool {
    let said: Vec<String> = facts::words(text).collect();
    let same = |word: &str, said: &str| said.starts_with(word) || (said.len() > 3 && word.starts_with(said));
    // Shorter ones, such as the `no` of `no_signal`, say nothing by themselves.
    let mut words = intent.split('_').filter(|word| word.len() > 2).peekable();
    words.peek().is_some() && words.all(|word| said.iter().any(|said| same(word, said)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_intent_is_named_by_all_of_its_words_in_any_form() {
        for (intent, text) in [
            ("card_dispute", "I want to dispute something on my cards."),
            ("no_signal", "There is no signal!"),
            ("booking_cancel", "Please book me out, cancelled for good."),
            ("roaming", "Roaming?"),
        ] {
            assert!(names(intent, text), "{intent}: {text}");
        }
        for (intent, text) in [
            ("lost_phone", "My phone went on a ride without me."),
            ("card_dispute", "Something odd is on my card."),
            ("no_signal", "No idea what is wrong here."),
            ("refund", "I am not happy with what I got."),
        ] {
            assert!(!names(intent, text), "{intent}: {text}");
        }
    }

    #[test]
    fn words_are_counted_as_people_do() {
        assert_eq!(count("Well – it's 44.17 EUR 🙂, isn't it?"), 6);
    }
}
