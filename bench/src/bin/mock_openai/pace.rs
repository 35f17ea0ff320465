//! A reply at the pace of a model: what it has to say comes in pieces, a few tokens each.

use std::time::Duration;

use axum::body::{Body, Bytes};
use futures::stream;
use serde_json::{Value, json};

use super::chunk;

/// Characters of a token.
const TOKEN: usize = 4;
/// Tokens of a piece.
const PIECE: u32 = 5;

/// The stream of a reply that is there as a whole, with a wait before each piece. `held` is kept until it ends.
pub fn slowly(reply: &Bytes, token: Duration, held: impl Send + 'static) -> Body {
    let text = String::from_utf8_lossy(reply).into_owned();
    let (first, rest) = text.split_once("\n\n").map_or((text.as_str(), ""), |(first, rest)| (first, rest));
    let event: Value =
        first.strip_prefix("data: ").and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
    let mut pieces = deltas(&event["choices"][0]["delta"]);
    let last = pieces.pop().map_or_else(|| rest.to_owned(), |last| last + rest);
    pieces.push(last);
    let stream = stream::unfold((pieces.into_iter(), held), move |(mut pieces, held)| async move {
        let piece = pieces.next()?;
        tokio::time::sleep(token * PIECE).await;
        Some((Ok::<_, std::convert::Infallible>(Bytes::from(piece)), (pieces, held)))
    });
    Body::from_stream(stream)
}

/// A message as the events that bring it: thoughts, words, and one call after the other.
fn deltas(message: &Value) -> Vec<String> {
    let mut all = Vec::new();
    for part in ["reasoning_content", "content"] {
        let pieces = pieces(message[part].as_str().unwrap_or_default());
        all.extend(pieces.map(|piece| chunk(&json!({ part: piece }), None)));
    }
    for (index, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let opening = json!({"index": index, "id": call["id"], "type": "function",
            "function": {"name": call["function"]["name"], "arguments": ""}});
        all.push(chunk(&json!({"tool_calls": [opening]}), None));
        for piece in pieces(call["function"]["arguments"].as_str().unwrap_or_default()) {
            let more = json!({"index": index, "function": {"arguments": piece}});
            all.push(chunk(&json!({"tool_calls": [more]}), None));
        }
    }
    all
}

fn pieces(text: &str) -> impl Iterator<Item = String> + '_ {
    let chars: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = chars.chunks(TOKEN * PIECE as usize).map(|piece| piece.iter().collect()).collect();
    pieces.into_iter()
}
