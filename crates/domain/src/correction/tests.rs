use super::*;
use crate::transcript::Transcript;
use crate::transcript::tests::{call, paying};

fn correction(version: u32, seq: u32, turn: Option<CorrectedTurn>) -> Correction {
    Correction { version, seq, turn, author: "ann".into(), note: "so".into(), created_at: DateTime::UNIX_EPOCH }
}

#[expect(clippy::unnecessary_wraps, reason = "a correction may be a withdrawal, which is `None`")]
fn says(content: &str) -> Option<CorrectedTurn> {
    Some(CorrectedTurn { content: Some(content.into()), ..CorrectedTurn::default() })
}

fn transcript() -> Transcript {
    paying().into_iter().collect()
}

#[test]
fn the_last_word_on_a_turn_holds_unless_it_was_withdrawn() {
    let all =
        [correction(1, 7, says("a")), correction(2, 1, says("b")), correction(3, 7, says("c")), correction(4, 7, None)];
    let at = |version| in_force(&all, version).values().map(|found| found.version).collect::<Vec<_>>();
    assert_eq!(at(0), [0_u32; 0]);
    assert_eq!(at(1), [1]);
    assert_eq!(at(3), [2, 3]);
    assert_eq!(at(4), [2]);
    assert_eq!(at(99), [2]);
}

#[test]
fn only_what_was_corrected_reads_differently() {
    let (original, mut transcript) = (transcript(), transcript());
    let turn = CorrectedTurn { tool_calls: Some(vec![call("call_1", "{\"n\":1}")]), ..CorrectedTurn::default() };
    let silent = CorrectedTurn { reasoning: Some(String::new()), ..CorrectedTurn::default() };
    // The sub-agent's turn is none of these messages'.
    let all = [correction(1, 1, Some(turn)), correction(2, 7, Some(silent)), correction(3, 5, says("x"))];
    let applied = apply(&mut transcript.agents[0], &in_force(&all, 3));
    assert_eq!(applied.iter().map(|found| found.version).collect::<Vec<_>>(), [1, 2]);
    let (messages, played) = (&transcript.agent().messages, &original.agent().messages);
    assert_eq!((&messages[0], &messages[2]), (&played[0], &played[2]));
    let Message::Assistant { tool_calls, reasoning_content, .. } = &messages[1] else { panic!() };
    assert_eq!((tool_calls[0].function.arguments.as_str(), reasoning_content.as_deref()), ("{\"n\":1}", Some("Hm.")));
    let Message::Assistant { content, reasoning_content, .. } = &messages[3] else { panic!() };
    assert_eq!((content.as_str(), reasoning_content.as_deref()), ("It is paid.", None));
    assert_eq!(transcript.branches, original.branches);
}

#[test]
fn sub_agents_are_corrected_and_answers_of_tools_are_not() {
    let (original, mut transcript) = (transcript(), transcript());
    let calls =
        CorrectedTurn { tool_calls: Some(vec![call("call_2", r#"{"to": "Ann"}"#)]), ..CorrectedTurn::default() };
    let all = [correction(1, 3, Some(calls)), correction(2, 4, says("never")), correction(3, 5, says("Paid to Ann."))];
    let applied = apply(&mut transcript.branches[0], &in_force(&all, u32::MAX));
    assert_eq!(applied.iter().map(|found| found.version).collect::<Vec<_>>(), [1, 3]);
    let (messages, played) = (&transcript.branches[0].messages, &original.branches[0].messages);
    let Message::Assistant { tool_calls, .. } = &messages[1] else { panic!() };
    assert_eq!(tool_calls[0].function.arguments, r#"{"to": "Ann"}"#);
    assert_eq!((messages[3].content(), &messages[2]), ("Paid to Ann.", &played[2]));
}
