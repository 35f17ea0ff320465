//! Parquet files that a sandboxed process decodes. It asks for the bytes that it needs, and gives lines of JSON.

use std::io::{self, Read};
use std::iter::from_fn;
use std::sync::Arc;

use bytes::{Buf as _, Bytes};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};
use sandbox::{Failure, Host, Limit, Owner, Pool, StreamedWork};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::PlacedRow;
use super::parquet_rows::{Placed, lines};
use crate::dataset::bad_source::{Place, SourceError};
use crate::dataset::stored_file::StoredFile;

/// Bytes that are read at a time where all is read in order.
const READ_AHEAD: u64 = 1 << 20;
/// Bytes of lines that are given at once.
const PIECE: usize = 256 << 10;
/// Pieces that wait for whoever writes them.
const WAITING: usize = 4;

/// Decodes a Parquet file of so many bytes.
#[derive(Serialize, Deserialize)]
pub struct DecodeParquet {
    file: String,
    length: u64,
}

/// What is wrong with the file.
#[derive(Serialize, Deserialize)]
pub struct WrongFile {
    /// From 1; `None`: the whole file.
    row: Option<u64>,
    message: String,
}

impl StreamedWork for DecodeParquet {
    const NAME: &'static str = "decode_parquet";
    type Answer = Result<(), WrongFile>;

    fn work(self, owner: &Owner) -> Self::Answer {
        let contents = OwnedFile { owner: owner.clone(), length: self.length };
        let wrong = |error: SourceError| WrongFile {
            row: match error.place {
                Place::Row(row) | Place::Line(row) => Some(row),
                Place::WholeFile => None,
            },
            message: error.message,
        };
        let mut piece = Vec::new();
        for line in lines(&self.file, contents).map_err(wrong)? {
            match line {
                Ok(line) => piece.extend_from_slice(&line),
                Err(error) => {
                    // The rows before it are looked at first.
                    give(owner, &piece)?;
                    return Err(wrong(error));
                }
            }
            piece.push(b'\n');
            if piece.len() >= PIECE {
                give(owner, &piece)?;
                piece.clear();
            }
        }
        give(owner, &piece)
    }
}

fn give(owner: &Owner, piece: &[u8]) -> Result<(), WrongFile> {
    owner.give(piece).map_err(|error| WrongFile { row: None, message: error.to_string() })
}

/// The file, as the sandboxed process reads it.
#[derive(Clone)]
struct OwnedFile {
    owner: Owner,
    length: u64,
}

impl OwnedFile {
    fn range(&self, start: u64, length: u64) -> io::Result<Bytes> {
        if start.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it is shorter than it says"));
        }
        self.owner.read(start, length).map(Bytes::from)
    }
}

/// Reads it in order.
struct InOrder {
    file: OwnedFile,
    next: u64,
    block: Bytes,
}

impl Read for InOrder {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.block.is_empty() && self.next < self.file.length {
            let length = READ_AHEAD.min(self.file.length - self.next);
            self.block = self.file.range(self.next, length)?;
            self.next += length;
        }
        let n = to.len().min(self.block.len());
        self.block.copy_to_slice(&mut to[..n]);
        Ok(n)
    }
}

impl Length for OwnedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for OwnedFile {
    type T = InOrder;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(InOrder { file: self.clone(), next: start, block: Bytes::new() })
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        self.range(start, length as u64).map_err(|error| ParquetError::External(error.into()))
    }
}

/// What is heard of the sandboxed process.
enum Heard {
    Piece(Vec<u8>),
    /// There are no more.
    End,
    Wrong(SourceError),
}

/// The process that has the file.
struct Reader {
    contents: StoredFile,
    to: mpsc::Sender<Heard>,
}

impl Host for Reader {
    async fn read(&mut self, start: u64, length: u64) -> io::Result<Vec<u8>> {
        let end = start.checked_add(length).ok_or_else(|| io::Error::other("no such place"))?;
        self.contents.read_range(start..end).await.map(Into::into)
    }

    async fn take(&mut self, piece: Vec<u8>) -> io::Result<()> {
        self.to.send(Heard::Piece(piece)).await.map_err(|_| io::Error::other("nobody reads the rows"))
    }
}

/// The rows of a file. To be read by a thread that may wait.
pub fn rows(
    file: &str,
    contents: StoredFile,
    sandbox: &Arc<Pool>,
    project: Uuid,
) -> impl Iterator<Item = Result<PlacedRow, SourceError>> + use<> {
    let (to, mut heard) = mpsc::channel(WAITING);
    let work = DecodeParquet { file: file.to_owned(), length: contents.bytes() };
    let (runtime, sandbox, name) = (contents.runtime().clone(), Arc::clone(sandbox), file.to_owned());
    runtime.spawn(async move {
        let mut host = Reader { contents, to: to.clone() };
        let decoded = tokio::select! {
            decoded = sandbox.stream(project, &work, &mut host) => decoded,
            // Nobody reads the rows any more: the process ends with the future.
            () = to.closed() => return,
        };
        let last = match decoded {
            Ok(Ok(())) => Heard::End,
            Ok(Err(WrongFile { row, message })) => {
                Heard::Wrong(SourceError::new(&name, row.map_or(Place::WholeFile, Place::Row), message))
            }
            Err(failure) => Heard::Wrong(SourceError::whole(&name, ended(&failure))),
        };
        let _ = to.send(last).await;
    });
    let (mut placed, file) = (Placed::of(file), file.to_owned());
    let mut lines = Vec::<Vec<u8>>::new().into_iter();
    let next = move || loop {
        if let Some(line) = lines.next() {
            return Some(placed.row(&line));
        }
        match heard.blocking_recv() {
            Some(Heard::Piece(piece)) => {
                let split = piece.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
                lines = split.map(<[u8]>::to_vec).collect::<Vec<_>>().into_iter();
            }
            Some(Heard::End) => return None,
            Some(Heard::Wrong(wrong)) => return Some(Err(wrong)),
            None => return Some(Err(SourceError::whole(&file, "nobody decodes it any more; try again"))),
        }
    };
    from_fn(next).fuse()
}

fn ended(failure: &Failure) -> String {
    match failure {
        Failure::Exceeded(limit @ (Limit::Cpu(_) | Limit::Wall(_) | Limit::Memory | Limit::Stack | Limit::Answer)) => {
            format!("it cannot be decoded: {limit}. Write it anew with smaller row groups and pages")
        }
        Failure::Busy | Failure::Broken(_) => format!("it is no Parquet file that can be read: {failure}"),
    }
}
