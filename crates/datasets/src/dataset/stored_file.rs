//! A file in object storage, read by threads that may wait: in one object, or in several that follow each other.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use bytes::{Buf as _, Bytes, BytesMut};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};
use store::objects::Objects;
use tokio::runtime::Handle;

/// Bytes that are read at a time where all is read in order.
const READ_AHEAD: u64 = 4 << 20;

/// Reads wait for the runtime, so they must not be made by its own threads, except blocking ones.
#[derive(Clone)]
pub struct StoredFile {
    objects: Objects,
    pieces: Arc<[Piece]>,
    length: u64,
    runtime: Handle,
}

#[derive(Debug, Clone)]
struct Piece {
    object: String,
    range: Range<u64>,
}

impl StoredFile {
    /// `pieces`: paths and lengths of the objects, in order.
    pub fn new(objects: Objects, pieces: impl IntoIterator<Item = (String, u64)>, runtime: Handle) -> Self {
        let mut length = 0;
        let mut placed = |(object, bytes)| {
            let start = length;
            length += bytes;
            Piece { object, range: start..length }
        };
        let pieces = pieces.into_iter().map(&mut placed).collect();
        Self { objects, pieces, length, runtime }
    }

    pub fn bytes(&self) -> u64 {
        self.length
    }

    /// Reads it from a place to its end.
    pub fn reader(&self, start: u64) -> SequentialReader {
        SequentialReader { file: self.clone(), next: start, block: Bytes::new() }
    }

    pub const fn runtime(&self) -> &Handle {
        &self.runtime
    }

    fn range(&self, range: Range<u64>) -> io::Result<Bytes> {
        self.runtime.block_on(self.read_range(range))
    }

    /// For those who run in the runtime.
    ///
    /// # Errors
    /// It is shorter, or the storage cannot be read.
    pub async fn read_range(&self, range: Range<u64>) -> io::Result<Bytes> {
        if range.start > range.end || range.end > self.length {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it is shorter than it says"));
        }
        // A storage refuses to read nothing.
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let first = self.pieces.partition_point(|piece| piece.range.end <= range.start);
        let mut parts = Vec::new();
        for piece in self.pieces[first..].iter().take_while(|piece| piece.range.start < range.end) {
            let (start, end) = (range.start.max(piece.range.start), range.end.min(piece.range.end));
            let within = start - piece.range.start..end - piece.range.start;
            let read = self.objects.range(&piece.object, within).await;
            parts.push(read.map_err(io::Error::other)?);
        }
        if parts.len() == 1 {
            return Ok(parts.swap_remove(0));
        }
        let mut whole = BytesMut::new();
        parts.iter().for_each(|part| whole.extend_from_slice(part));
        Ok(whole.freeze())
    }
}

/// Reads a file in order, some megabytes at a time.
pub struct SequentialReader {
    file: StoredFile,
    next: u64,
    block: Bytes,
}

impl Read for SequentialReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.block.is_empty() && self.next < self.file.length {
            let end = self.file.length.min(self.next + READ_AHEAD);
            self.block = self.file.range(self.next..end)?;
            self.next = end;
        }
        let n = to.len().min(self.block.len());
        self.block.copy_to_slice(&mut to[..n]);
        Ok(n)
    }
}

impl Length for StoredFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for StoredFile {
    type T = SequentialReader;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(self.reader(start))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let end = start.saturating_add(length as u64);
        self.range(start..end).map_err(|error| ParquetError::External(error.into()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::spawn_blocking;

    use super::*;

    #[tokio::test]
    async fn pieces_read_as_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let objects = Objects::of_folder(folder.path().join("objects")).unwrap();
        for (path, text) in [("u/0", "abc"), ("u/1", "defg"), ("u/2", "h")] {
            objects.put(path, Bytes::from_static(text.as_bytes())).await.unwrap();
        }
        let pieces = [("u/0".to_owned(), 3), ("u/1".to_owned(), 4), ("u/2".to_owned(), 1)];
        let file = StoredFile::new(objects, pieces, Handle::current());
        spawn_blocking(move || {
            assert_eq!(file.bytes(), 8);
            for (start, length, text) in [(0, 3, "abc"), (2, 2, "cd"), (1, 7, "bcdefgh"), (3, 4, "defg"), (5, 0, "")] {
                assert_eq!(file.get_bytes(start, length).unwrap(), text);
            }
            assert!(file.get_bytes(7, 2).is_err());
            let mut rest = String::new();
            file.reader(2).read_to_string(&mut rest).unwrap();
            assert_eq!(rest, "cdefgh");
        })
        .await
        .unwrap();
    }
}
