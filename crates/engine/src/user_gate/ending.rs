//! Ends that come too early, and when a user may leave all the same.

use domain::message::Message;

use crate::case::Case;
use crate::conversation_state::State;

/// Why the user may not end here.
pub fn too_early(case: &Case, state: &State) -> Option<String> {
    let heard = &state.agent().messages;
    if heard.is_empty() {
        return Some("you cannot end the conversation with your first message".into());
    }
    let mut answers = heard.iter().filter_map(|message| match message {
        Message::Assistant { content, .. } if !content.is_empty() => Some(content),
        _ => None,
    });
    match answers.next_back() {
        None => Some("you cannot end the conversation before support has answered".into()),
        _ if has_had_enough(case, state) => None,
        Some(said) if asks(said, &case.speech.closing_questions) => Some(
            "support has just asked you something: answer it, and end only when you have heard what follows".into(),
        ),
        Some(_) => None,
    }
}

/// Whether the user has just been asked more than it has patience for.
pub fn has_had_enough(case: &Case, state: &State) -> bool {
    let Some(most) = case.speech.answers else { return false };
    let asked = state.agent().messages.iter().filter_map(|message| match message {
        Message::Assistant { content, .. } if !content.is_empty() => {
            Some(asks(content, &case.speech.closing_questions))
        }
        _ => None,
    });
    let asked: Vec<bool> = asked.collect();
    asked.last() == Some(&true) && asked.iter().filter(|asked| **asked).count() > most as usize
}

/// Whether a text ends with a question that is more than the offer to end.
fn asks(text: &str, closing: &[String]) -> bool {
    let text = text.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '?' | '.' | '!'));
    let Some(text) = text.strip_suffix('?') else { return false };
    let question = text.rsplit(['.', '!', '?', '\n']).next().unwrap_or(text).to_lowercase();
    !closing.iter().any(|words| question.contains(&words.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_wants_an_answer_unless_it_offers_to_end() {
        let closing = ["anything else".to_owned()];
        for text in ["Shall I book it?", "It costs 12.50. Is that fine? 🙂", "Is that anything else. Really?"] {
            assert!(asks(text, &closing), "{text}");
        }
        for text in ["It is booked.", "Done. Is there anything else I can do?", "Why? Because it is late.", ""] {
            assert!(!asks(text, &closing), "{text}");
        }
    }
}
