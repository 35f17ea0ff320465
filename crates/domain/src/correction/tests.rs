use super::*;
use crate::event::Usage;

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id.into(), "pay".into(), arguments.into())
}

fn correction(version: u32, seq: u32, turn: Option<CorrectedTurn>) -> Correction {
    Correction { version, seq, turn, author: "ann".into(), note: "so".into(), created_at: DateTime::UNIX_EPOCH }
}

#[expect(clippy::unnecessary_wraps, reason = "a correction may be a withdrawal, which is `None`")]
fn says(content: &str) -> Option<CorrectedTurn> {
    Some(CorrectedTurn { content: Some(content.into()), ..CorrectedTurn::default() })
}

fn event(seq: u32, ancestry: Vec<Fork>, kind: EventKind) -> Event {
    Event { seq, ancestry, kind }
}

fn spoke(content: &str, tool_calls: Vec<ToolCall>) -> EventKind {
    let reasoning = Some("Hm.".to_owned());
    EventKind::AgentSpoke { content: content.into(), reasoning, tool_calls, usage: Usage::default() }
}

fn answered(call_id: &str, answer: Answer) -> EventKind {
    EventKind::ToolAnswered {
        call_id: call_id.into(),
        tool: "pay".into(),
        content: "done".into(),
        answer,
        patch: Vec::new(),
        fault: None,
        note: None,
        usage: Usage::default(),
    }
}

/// The agent hands on to a sub-agent, which pays, and then speaks itself.
fn story() -> Vec<Event> {
    let user =
        EventKind::UserSpoke { content: "Pay.".into(), ended: false, walked_out: false, usage: Usage::default() };
    let inner = vec![Fork { seq: 1, index: 0 }];
    let delegated = EventKind::Delegated { call_id: "call_1".into(), agent: "payer".into(), task: "Pay it.".into() };
    vec![
        event(0, vec![], user),
        event(1, vec![], spoke("", vec![call("call_1", "{}")])),
        event(2, inner.clone(), delegated),
        event(3, inner.clone(), spoke("", vec![call("call_2", "{}")])),
        event(4, inner.clone(), answered("call_2", Answer::Succeeded)),
        event(5, inner, spoke("Paid.", vec![])),
        event(6, vec![], answered("call_1", Answer::Succeeded)),
        event(7, vec![], spoke("It is paid.", vec![call("call_3", "{}")])),
        event(8, vec![], answered("call_3", Answer::Terminal)),
    ]
}

#[test]
fn each_agent_has_a_transcript_of_its_own() {
    let seqs = |path: &[Fork]| transcript(&story(), path).iter().map(|(seq, _)| *seq).collect::<Vec<_>>();
    assert_eq!(seqs(&[]), [0, 1, 6, 7], "the terminal call's answer is read by nobody");
    assert_eq!(seqs(&[Fork { seq: 1, index: 0 }]), [2, 3, 4, 5]);
    assert_eq!(turns(&story(), &[]), [1, 7]);
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
    let mut messages: Vec<Message> = transcript(&story(), &[]).into_iter().map(|(_, message)| message).collect();
    let original = messages.clone();
    let turn = CorrectedTurn { tool_calls: Some(vec![call("call_1", "{\"n\":1}")]), ..CorrectedTurn::default() };
    let silent = CorrectedTurn { reasoning: Some(String::new()), ..CorrectedTurn::default() };
    // The sub-agent's turn is none of these messages'.
    let all = [correction(1, 1, Some(turn)), correction(2, 7, Some(silent)), correction(3, 5, says("x"))];
    let applied = apply(&mut messages, &turns(&story(), &[]), &in_force(&all, 3));
    assert_eq!(applied.iter().map(|found| found.version).collect::<Vec<_>>(), [1, 2]);
    assert_eq!((&messages[0], &messages[2]), (&original[0], &original[2]));
    let Message::Assistant { tool_calls, reasoning_content, .. } = &messages[1] else { panic!() };
    assert_eq!((tool_calls[0].function.arguments.as_str(), reasoning_content.as_deref()), ("{\"n\":1}", Some("Hm.")));
    let Message::Assistant { content, reasoning_content, .. } = &messages[3] else { panic!() };
    assert_eq!((content.as_str(), reasoning_content.as_deref()), ("It is paid.", None));
}

#[test]
fn events_are_corrected_as_messages_are() {
    let silent = CorrectedTurn { reasoning: Some(String::new()), ..CorrectedTurn::default() };
    let calls =
        CorrectedTurn { tool_calls: Some(vec![call("call_2", r#"{"to": "Ann"}"#)]), ..CorrectedTurn::default() };
    let all = [
        correction(1, 7, says("It is done.")),
        correction(2, 3, Some(calls)),
        correction(3, 5, Some(silent)),
        // No turn of an agent's.
        correction(4, 4, says("never")),
    ];
    let in_force = in_force(&all, u32::MAX);
    let (played, mut corrected) = (story(), story());
    apply_to_events(&mut corrected, &in_force);
    for path in [vec![], vec![Fork { seq: 1, index: 0 }]] {
        let messages = |events: &[Event]| -> Vec<Message> {
            transcript(events, &path).into_iter().map(|(_, message)| message).collect()
        };
        let mut expected = messages(&played);
        assert!(!apply(&mut expected, &turns(&played, &path), &in_force).is_empty());
        assert_eq!(messages(&corrected), expected);
    }
    assert_eq!(corrected[4], played[4]);
}
