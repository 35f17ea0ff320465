//! The frames of a connection. They are read while an answer is made, too: a connection that nobody reads answers no pings, and the
//! client takes it for dead.

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use axum::extract::ws::{Message as Frame, WebSocket};
use serde_json::Value;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite;

use super::message::{self, LARGEST_MESSAGE, Received, SESSION_ERROR, VALIDATION_ERROR, failed};

/// Larger messages are received and refused up to this size. What is larger still ends the connection.
pub const LARGEST_FRAME: usize = 4 * LARGEST_MESSAGE;
/// Messages that may wait for the answers to earlier ones. Together they are as large as one may be.
const MOST_WAITING: usize = 64;
/// A connection that says nothing for so long is closed. The clients' libraries send a ping each 20 seconds.
const LONGEST_SILENCE: Duration = Duration::from_mins(30);

pub struct Frames {
    socket: WebSocket,
    waiting: VecDeque<Received>,
    has_left: bool,
    broke_limit: bool,
}

impl Frames {
    pub fn new(socket: WebSocket) -> Self {
        Self { socket, waiting: VecDeque::new(), has_left: false, broke_limit: false }
    }

    /// The next message. `None` once the client has left.
    pub async fn next(&mut self) -> Option<Received> {
        while self.waiting.is_empty() && !self.has_left {
            match timeout(LONGEST_SILENCE, self.socket.recv()).await {
                Ok(frame) => self.receive(frame).await,
                Err(_) => self.has_left = true,
            }
        }
        self.waiting.pop_front()
    }

    /// Sends an answer when it is made. A client that leaves is not answered, but its messages up to a `close` are.
    pub async fn answer(&mut self, answer: impl Future<Output = Value>) {
        let mut answer = pin!(answer);
        let answer = loop {
            if self.has_left && !self.says_goodbye() {
                self.waiting.clear();
                return;
            }
            tokio::select! {
                answer = &mut answer => break answer,
                frame = self.socket.recv(), if !self.has_left => self.receive(frame).await,
            }
        };
        self.send(&answer).await;
    }

    pub async fn send(&mut self, answer: &Value) {
        if self.socket.send(Frame::Text(answer.to_string().into())).await.is_err() {
            self.has_left = true;
        }
    }

    /// Whether the connection ended by a message that is larger than any that can be received.
    pub fn broke_limit(&self) -> bool {
        self.broke_limit
    }

    pub async fn close(mut self) {
        // The client may have closed it.
        let _ = self.socket.send(Frame::Close(None)).await;
    }

    async fn receive(&mut self, frame: Option<Result<Frame, axum::Error>>) {
        let (code, why) = match frame {
            Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => return,
            Some(Ok(Frame::Close(_))) | None => {
                self.has_left = true;
                return;
            }
            Some(Ok(Frame::Text(text))) if self.has_room(&text) => {
                self.waiting.push_back(Received::Text(text));
                return;
            }
            Some(Ok(Frame::Binary(_))) if self.has_room("") => {
                self.waiting.push_back(Received::Binary);
                return;
            }
            // It has no place among the answers to the messages that wait, so this one comes at once.
            Some(Ok(Frame::Text(_) | Frame::Binary(_))) => {
                (SESSION_ERROR, "too many messages wait for their answers; this one is dropped".to_owned())
            }
            Some(Err(error)) => {
                self.has_left = true;
                if !is_too_large(error) {
                    return;
                }
                self.broke_limit = true;
                (VALIDATION_ERROR, format!("the message is too large: at most {LARGEST_MESSAGE} bytes are read"))
            }
        };
        self.send(&failed(code, &why)).await;
    }

    fn has_room(&self, text: &str) -> bool {
        let length = |waiting: &Received| match waiting {
            Received::Text(text) => text.len(),
            Received::Binary => 0,
        };
        let bytes = self.waiting.iter().map(length).sum::<usize>();
        self.waiting.is_empty() || (self.waiting.len() < MOST_WAITING && bytes + text.len() <= LARGEST_MESSAGE)
    }

    /// Whether a `close` waits.
    fn says_goodbye(&self) -> bool {
        let is_close = |waiting: &Received| match waiting {
            Received::Text(text) => message::kind(text).as_deref() == Some("close"),
            Received::Binary => false,
        };
        self.waiting.iter().any(is_close)
    }
}

/// Whether an error of the connection is about a message that is too large.
fn is_too_large(error: axum::Error) -> bool {
    let error = error.into_inner();
    matches!(error.downcast_ref::<tungstenite::Error>(), Some(tungstenite::Error::Capacity(_)))
}
