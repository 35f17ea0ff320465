//! The body of an answer: a stream of events if the endpoint streams, one JSON document if it does not.

use std::borrow::Cow;
use std::time::Duration;

use domain::chat::ChatReply;
use domain::task::Heard;
use reqwest::Response;
use tokio::time::{Instant, timeout};

use super::deadline::Deadline;
use super::draft::Draft;
use super::events::Events;
use super::manner::Manner;
use super::nan::without_nan;
use super::wire::Chunk;
use crate::Listener;
use crate::error::{Failure, Wait};

/// How long a stream may stay open after its `[DONE]`.
const LINGER: Duration = Duration::from_millis(50);

/// A reply, and how it came.
type ReplyAndManner = (ChatReply, Manner);

/// The bytes as they come, the first awaited until `until`, each further part for `idle`.
pub struct Parts<'a> {
    pub response: Response,
    pub deadline: Deadline,
    pub waiting: ReplyWait,
    pub idle: Duration,
    /// The model that has to answer, where that is known by its exact name.
    pub only: Option<&'a str>,
    /// Whether the tokens of the reply were asked for.
    pub tokens: bool,
    /// Bytes that came, and the most that are read.
    pub bytes_read: usize,
    pub most_bytes: usize,
}

/// What is waited for, how long in all, and until when.
#[derive(Clone, Copy)]
pub struct ReplyWait {
    pub wait: Wait,
    pub limit: Duration,
    pub until: Instant,
}

impl ReplyWait {
    pub const fn failure(self) -> Failure {
        Failure::Timeout { wait: self.wait, limit: self.limit }
    }
}

impl Parts<'_> {
    /// Appends what comes next; false at the end.
    pub async fn append_to(&mut self, bytes: &mut Vec<u8>) -> Result<bool, Failure> {
        let waiting = self.waiting;
        let part = self.deadline.wait(waiting.until, self.response.chunk()).await;
        let part = part.ok_or_else(|| waiting.failure())?.map_err(|_| Failure::CutStream)?;
        let Some(part) = part else { return Ok(false) };
        self.waiting = ReplyWait { wait: Wait::NextChunk, limit: self.idle, until: Instant::now() + self.idle };
        self.bytes_read += part.len();
        if self.bytes_read > self.most_bytes {
            return Err(Failure::too_long(ChatReply::default()));
        }
        bytes.extend_from_slice(&part);
        Ok(true)
    }
}

/// Reads an answer to its end, and says when it began.
pub async fn read_whole(mut parts: Parts<'_>) -> Result<(Vec<u8>, Instant), Failure> {
    let mut body = Vec::new();
    parts.append_to(&mut body).await?;
    let began = Instant::now();
    while parts.append_to(&mut body).await? {}
    Ok((body, began))
}

/// Reads a reply, and says when it began. Its first characters, not its content type, say what it is: proxies and
/// servers mislabel both kinds.
pub async fn read(mut parts: Parts<'_>, listener: Listener<'_>) -> Result<(ReplyAndManner, Instant), Failure> {
    let mut head = Vec::new();
    // Blank lines keep a connection alive while the request is queued.
    while head.trim_ascii().is_empty() {
        if !parts.append_to(&mut head).await? {
            return Err(Failure::CutStream);
        }
    }
    let began = Instant::now();
    if begins_events(head.trim_ascii_start()) {
        return Ok((read_events(head, parts, listener).await?, began));
    }
    while parts.append_to(&mut head).await? {}
    Ok((read_document(&head, &parts)?, began))
}

fn begins_events(head: &[u8]) -> bool {
    let fields = ["data", "event", "id", "retry", ":", "\u{feff}"];
    fields.iter().any(|field| {
        let length = field.len().min(head.len());
        head[..length] == field.as_bytes()[..length]
    })
}

async fn read_events(head: Vec<u8>, mut parts: Parts<'_>, listener: Listener<'_>) -> Result<ReplyAndManner, Failure> {
    let mut events = Events::new(head);
    let mut draft = Draft::by(parts.only, parts.tokens);
    loop {
        while let Some(data) = events.next() {
            match data.trim_ascii() {
                b"" => {}
                b"[DONE]" => {
                    draft.close();
                    // The body's end usually follows at once; read, it leaves the connection free for the next request.
                    let rest = events.end();
                    let _ = timeout(LINGER, async { while let Ok(true) = parts.append_to(rest).await {} }).await;
                    return draft.finish();
                }
                data => {
                    add(&mut draft, data)?;
                    if let Some(calls) = draft.complete_calls() {
                        listener(Heard::Calls(&calls));
                    }
                    if let Some(text) = draft.more_text() {
                        listener(Heard::Text(text));
                    }
                }
            }
        }
        match parts.append_to(events.end()).await {
            Ok(true) => {}
            Ok(false) => break,
            // All was said; only the end of the stream is missing, or the server keeps it open.
            Err(Failure::Stopped { .. }) => return Err(draft.too_long()),
            Err(_) if draft.is_finished() => break,
            Err(failure) => return Err(failure),
        }
    }
    draft.finish()
}

fn read_document(body: &[u8], parts: &Parts<'_>) -> Result<ReplyAndManner, Failure> {
    let body = &*valid_json(body, parts.tokens);
    let chunk = chunk(body)?;
    if chunk.choices.as_ref().is_none_or(Vec::is_empty) && chunk.error.is_none() {
        return Err(garbled(body));
    }
    let mut draft = Draft::by(parts.only, parts.tokens);
    draft.read_tokens(body);
    draft.add(chunk)?;
    draft.close();
    draft.finish()
}

/// Adds what one event of a stream says.
fn add(draft: &mut Draft, data: &[u8]) -> Result<(), Failure> {
    let data = &*valid_json(data, draft.asks_for_tokens());
    let chunk = chunk(data)?;
    draft.read_tokens(data);
    draft.add(chunk)
}

/// Log-probabilities that are no numbers must not cost the reply.
fn valid_json(json: &[u8], tokens: bool) -> Cow<'_, [u8]> {
    if tokens { without_nan(json) } else { Cow::Borrowed(json) }
}

fn chunk(json: &[u8]) -> Result<Chunk, Failure> {
    serde_json::from_slice(json).map_err(|_| garbled(json))
}

fn garbled(found: &[u8]) -> Failure {
    let found = String::from_utf8_lossy(found).into_owned();
    Failure::Garbled { found }
}
