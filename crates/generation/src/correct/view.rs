//! Transcripts with corrections, and how they differ from what was played.

use std::collections::BTreeMap;

use domain::api::{CorrectedAgent, CorrectedMessage, DiffKind, DiffPiece};
use domain::correction::Correction;
use domain::message::{Message, ToolCall};
use domain::transcript::{Frame, Transcript};
use similar::{ChangeTag, TextDiff};

/// The agent under test, then each sub-agent.
pub fn agents(transcript: &Transcript, in_force: &BTreeMap<u32, &Correction>) -> Vec<CorrectedAgent> {
    let agent = |frame: &Frame| {
        let sub_agent = frame.caller.sub_agent().unwrap_or_default().to_owned();
        let messages = frame.entries();
        let messages = messages.map(|(seq, message)| corrected(seq, message.clone(), in_force.get(&seq).copied()));
        CorrectedAgent { sub_agent, path: frame.path.clone(), messages: messages.collect() }
    };
    std::iter::once(transcript.agent()).chain(transcript.sub_agents()).map(agent).collect()
}

fn corrected(seq: u32, original: Message, correction: Option<&Correction>) -> CorrectedMessage {
    let Some((correction, turn)) = correction.and_then(|known| Some((known, known.turn.as_ref()?))) else {
        return CorrectedMessage { seq, message: original, corrected_by: None, diff: BTreeMap::new() };
    };
    let mut message = original.clone();
    turn.over(&mut message);
    let old = parts(&original);
    let changed = parts(&message).into_iter().zip(old).filter(|((_, new), (_, old))| new != old);
    let diff = changed.map(|((name, new), (_, old))| (name.to_owned(), pieces(&old, &new))).collect();
    CorrectedMessage { seq, message, corrected_by: Some(correction.version), diff }
}

fn parts(message: &Message) -> [(&'static str, String); 3] {
    let (content, reasoning, calls) = match message {
        Message::Assistant { content, reasoning_content, tool_calls } => {
            (content.as_str(), reasoning_content.as_deref().unwrap_or_default(), tool_calls.as_slice())
        }
        other => (other.content(), "", &[][..]),
    };
    [
        ("content", content.to_owned()),
        ("reasoning", reasoning.to_owned()),
        ("tool_calls", calls.iter().map(readable).collect()),
    ]
}

/// A call with its arguments in lines, so that it can be compared by words.
fn readable(call: &ToolCall) -> String {
    let arguments = call.arguments().and_then(|value| serde_json::to_string_pretty(&value).map_err(|e| e.to_string()));
    format!("{} {}\n", call.name(), arguments.unwrap_or_else(|_| call.function.arguments.clone()))
}

/// By words; neighbours of one kind are one piece.
fn pieces(old: &str, new: &str) -> Vec<DiffPiece> {
    let diff = TextDiff::from_words(old, new);
    let mut pieces: Vec<DiffPiece> = Vec::new();
    for change in diff.iter_all_changes() {
        let kind = match change.tag() {
            ChangeTag::Equal => DiffKind::Equal,
            ChangeTag::Delete => DiffKind::Delete,
            ChangeTag::Insert => DiffKind::Insert,
        };
        match pieces.last_mut() {
            Some(last) if last.kind == kind => last.text.push_str(change.value()),
            _ => pieces.push(DiffPiece { kind, text: change.value().to_owned() }),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_texts_can_be_read_from_the_pieces() {
        let (old, new) = ("Your fee is 35 euros.\nSorry.", "Your fee was 35 euros.\n");
        let text = |without: DiffKind| {
            let kept = pieces(old, new).into_iter().filter(|piece| piece.kind != without);
            kept.map(|piece| piece.text).collect::<String>()
        };
        assert_eq!((text(DiffKind::Insert).as_str(), text(DiffKind::Delete).as_str()), (old, new));
        assert_eq!(pieces("a", "a"), [DiffPiece { kind: DiffKind::Equal, text: "a".into() }]);
    }
}
