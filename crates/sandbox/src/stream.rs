//! Work on more than fits into memory: it reads what it needs piece by piece, and gives what it finds piece by piece.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::confined::{limit_cpu, send};
use crate::frame::{Frames, Kind};
use crate::limits::Limits;

/// A computation over untrusted bytes that stay where they are. Its computing time counts anew with each piece that
/// it gives, and its time on the clock with each message between the two processes.
pub trait StreamedWork: Serialize + DeserializeOwned + Send + 'static {
    /// Unique among all kinds of work.
    const NAME: &'static str;
    const LIMITS: Limits = Limits::PIECE;
    type Answer: Serialize + DeserializeOwned + Send + 'static;

    fn work(self, owner: &Owner) -> Self::Answer;
}

/// Who gives streamed work its bytes and takes its pieces.
pub trait Host: Send {
    /// # Errors
    /// Told to the work, which may go on.
    fn read(&mut self, start: u64, length: u64) -> impl Future<Output = io::Result<Vec<u8>>> + Send;

    /// # Errors
    /// Ends the work.
    fn take(&mut self, piece: Vec<u8>) -> impl Future<Output = io::Result<()>> + Send;
}

/// The process that wants the work done, as the sandboxed process sees it.
#[derive(Clone)]
pub struct Owner {
    replies: Arc<Mutex<Frames>>,
    cpu: Duration,
}

impl Owner {
    pub(crate) const fn new(replies: Arc<Mutex<Frames>>, cpu: Duration) -> Self {
        Self { replies, cpu }
    }

    /// # Errors
    /// The bytes are not there.
    pub fn read(&self, start: u64, length: u64) -> io::Result<Vec<u8>> {
        let replies = self.replies.lock();
        let asked = [start.to_le_bytes(), length.to_le_bytes()].concat();
        send(Kind::Read, &asked)?;
        match replies.recv().map_err(io::Error::other)? {
            (Kind::Bytes, bytes) => Ok(bytes),
            (_, why) => Err(io::Error::other(String::from_utf8_lossy(&why).into_owned())),
        }
    }

    /// # Errors
    /// Nobody takes it.
    pub fn give(&self, piece: &[u8]) -> io::Result<()> {
        send(Kind::Piece, piece)?;
        limit_cpu(self.cpu)
    }
}

/// The place and the length of the bytes that are asked for.
pub(crate) fn asked(bytes: &[u8]) -> io::Result<(u64, u64)> {
    let number = |at: usize| {
        let bytes = bytes.get(at..at + 8).and_then(|bytes| bytes.first_chunk()).copied();
        bytes.map(u64::from_le_bytes).ok_or_else(|| io::Error::other("no place is asked for"))
    };
    Ok((number(0)?, number(8)?))
}
