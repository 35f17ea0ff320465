//! A data file of an export, hashed while it is written.

use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::thread::{JoinHandle, spawn};

use domain::export::Shape;
use sha2::{Digest, Sha256};

use super::columns::Parquet;
use super::profile;
use crate::room::Room;

const PART: usize = 128 << 10;
/// Bytes that are brought to the disk at a time.
const SYNC: u64 = 16 << 20;

/// Takes records, one a line.
pub struct PartWriter(Sink);

enum Sink {
    Lines(HashedFile),
    Columns(Box<Parquet<HashedFile>>),
}

/// What a file came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sum {
    pub bytes: u64,
    /// SHA-256, in hex.
    pub hash: String,
}

impl PartWriter {
    pub fn new(file: File, shape: &Shape, room: Room) -> anyhow::Result<Self> {
        let hashed = HashedFile::new(file, room);
        Ok(Self(match profile::columns(shape) {
            None => Sink::Lines(hashed),
            Some(columns) => Sink::Columns(Box::new(columns.writer(hashed)?)),
        }))
    }

    pub fn write(&mut self, lines: &[u8]) -> anyhow::Result<()> {
        match &mut self.0 {
            Sink::Lines(file) => Ok(file.write_all(lines)?),
            Sink::Columns(columns) => columns.write(lines),
        }
    }

    pub fn finish(self) -> anyhow::Result<Sum> {
        let hashed = match self.0 {
            Sink::Lines(hashed) => hashed,
            Sink::Columns(columns) => columns.finish()?,
        };
        hashed.finish()
    }
}

/// A file whose bytes are hashed as they are written. Callers write many bytes at a time.
pub struct HashedFile {
    file: File,
    hasher: Sha256,
    bytes: u64,
    synced: SyncProgress,
    room: Room,
}

impl HashedFile {
    pub fn new(file: File, room: Room) -> Self {
        Self { file, hasher: Sha256::new(), bytes: 0, synced: SyncProgress::default(), room }
    }

    pub fn finish(self) -> anyhow::Result<Sum> {
        self.synced.wait()?;
        self.file.sync_all()?;
        let hash = hex::encode(self.hasher.finalize());
        Ok(Sum { bytes: self.bytes, hash })
    }
}

impl Write for HashedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A part that is still in the processor's cache when it is hashed.
        let bytes = &bytes[..bytes.len().min(PART)];
        self.room.check(self.bytes, bytes.len() as u64)?;
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.bytes += written as u64;
        self.synced.follow(&self.file, self.bytes)?;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// How much of a file is on the disk, or on its way there. Were all of it brought there at the end, everything else would
/// wait for it.
#[derive(Default)]
struct SyncProgress {
    bytes: u64,
    going: Option<JoinHandle<io::Result<()>>>,
}

impl SyncProgress {
    /// Goes on beside whoever writes, unless enough is on its way.
    fn follow(&mut self, file: &File, written: u64) -> io::Result<()> {
        if written - self.bytes < SYNC || self.going.as_ref().is_some_and(|going| !going.is_finished()) {
            return Ok(());
        }
        let file = file.try_clone()?;
        let before = mem::replace(self, Self { bytes: written, going: Some(spawn(move || file.sync_data())) });
        before.wait()
    }

    fn wait(self) -> io::Result<()> {
        self.going.map_or(Ok(()), |going| going.join().map_err(|_| io::Error::other("the disk"))?)
    }
}
