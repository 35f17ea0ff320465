//! The body of an answer: a stream of events if the endpoint streams, one JSON document if it does not.

use std::pin::pin;
use std::time::Duration;

use engine::ChatReply;
use eventsource_stream::{EventStreamError, Eventsource};
use futures::{Stream, StreamExt, TryStreamExt, stream};
use reqwest::Response;
use tokio::time::{Instant, timeout, timeout_at};

use super::draft::Draft;
use super::wire::Chunk;
use crate::error::{Failure, Wait};

/// Longest answer that is read, in bytes: a model that never stops must not fill the memory.
const MAX_BYTES: usize = 16 << 20;
/// How long a stream may stay open after its `[DONE]`.
const LINGER: Duration = Duration::from_millis(50);

/// The bytes as they come, none awaited longer than `first` (until `first_by`) or `idle`.
pub fn bytes(
    response: Response,
    (first, first_by): (Duration, Instant),
    idle: Duration,
) -> impl Stream<Item = Result<Vec<u8>, Failure>> {
    let first = (Wait::FirstByte, first, first_by);
    stream::try_unfold((response, first, 0), move |(mut response, waiting, so_far)| async move {
        let (wait, limit, by) = waiting;
        let chunk = timeout_at(by, response.chunk())
            .await
            .map_err(|_| Failure::Timeout { wait, limit })?
            .map_err(|_| Failure::CutStream)?;
        let waiting = (Wait::NextChunk, idle, Instant::now() + idle);
        let so_far = so_far + chunk.as_deref().map_or(0, <[u8]>::len);
        if so_far > MAX_BYTES {
            return Err(garbled("more than any reply needs"));
        }
        Ok(chunk.map(|chunk| (chunk.to_vec(), (response, waiting, so_far))))
    })
}

/// Reads a reply. Its first characters, not its content type, say what it is: proxies and servers mislabel both kinds.
pub async fn read(bytes: impl Stream<Item = Result<Vec<u8>, Failure>>) -> Result<ChatReply, Failure> {
    let mut bytes = pin!(bytes);
    let mut head = Vec::new();
    // Blank lines keep a connection alive while the request is queued.
    while head.trim_ascii().is_empty() {
        match bytes.try_next().await? {
            Some(chunk) => head.extend(chunk),
            None => return Err(Failure::CutStream),
        }
    }
    if begins_events(head.trim_ascii_start()) {
        let head = stream::once(async { Ok(head) });
        return read_events(head.chain(bytes)).await;
    }
    while let Some(chunk) = bytes.try_next().await? {
        head.extend(chunk);
    }
    read_document(&head)
}

fn begins_events(head: &[u8]) -> bool {
    let fields = ["data", "event", "id", "retry", ":", "\u{feff}"];
    fields.iter().any(|field| {
        let length = field.len().min(head.len());
        head[..length] == field.as_bytes()[..length]
    })
}

async fn read_events(bytes: impl Stream<Item = Result<Vec<u8>, Failure>>) -> Result<ChatReply, Failure> {
    let mut events = pin!(bytes.eventsource());
    let mut draft = Draft::default();
    while let Some(event) = events.next().await {
        let data = match event {
            Ok(event) => event.data,
            // All was said; only the end of the stream is missing, or the server keeps it open.
            Err(_) if draft.is_finished() => break,
            Err(EventStreamError::Transport(failure)) => return Err(failure),
            Err(error) => return Err(garbled(&error.to_string())),
        };
        match data.trim() {
            "" => {}
            "[DONE]" => {
                draft.close();
                // The body's end usually follows at once; read, it leaves the connection free for the next request.
                let _ = timeout(LINGER, events.next()).await;
                break;
            }
            data => draft.add(chunk(data)?)?,
        }
    }
    draft.finish()
}

fn read_document(body: &[u8]) -> Result<ChatReply, Failure> {
    let body = String::from_utf8_lossy(body);
    let chunk = chunk(&body)?;
    if chunk.choices.as_ref().is_none_or(Vec::is_empty) && chunk.error.is_none() {
        return Err(garbled(&body));
    }
    let mut draft = Draft::default();
    draft.add(chunk)?;
    draft.close();
    draft.finish()
}

fn chunk(json: &str) -> Result<Chunk, Failure> {
    serde_json::from_str(json).map_err(|_| garbled(json))
}

fn garbled(found: &str) -> Failure {
    let found = found.to_owned();
    Failure::Garbled { found }
}
