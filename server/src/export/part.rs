//! A data file of an export, hashed while it is written.

use std::fs::File;
use std::io::{self, Write};

use domain::export::Shape;
use sha2::{Digest, Sha256};

use super::columns::Parquet;
use super::profile;

const PART: usize = 128 << 10;

/// Takes records, one a line.
pub struct PartWriter(To);

enum To {
    Lines(Hashed),
    Columns(Box<Parquet<Hashed>>),
}

/// What a file came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sum {
    pub bytes: u64,
    /// SHA-256, in hex.
    pub hash: String,
}

impl PartWriter {
    pub fn new(file: File, shape: &Shape) -> anyhow::Result<Self> {
        let hashed = Hashed::new(file);
        Ok(Self(match profile::columns(shape) {
            None => To::Lines(hashed),
            Some(columns) => To::Columns(Box::new(columns.writer(hashed)?)),
        }))
    }

    pub fn write(&mut self, lines: &[u8]) -> anyhow::Result<()> {
        match &mut self.0 {
            To::Lines(file) => Ok(file.write_all(lines)?),
            To::Columns(columns) => columns.write(lines),
        }
    }

    pub fn finish(self) -> anyhow::Result<Sum> {
        let hashed = match self.0 {
            To::Lines(hashed) => hashed,
            To::Columns(columns) => columns.finish()?,
        };
        hashed.finish()
    }
}

/// A file whose bytes are hashed as they are written. Whoever writes brings many at a time.
pub struct Hashed {
    file: File,
    hasher: Sha256,
    bytes: u64,
}

impl Hashed {
    pub fn new(file: File) -> Self {
        Self { file, hasher: Sha256::new(), bytes: 0 }
    }

    pub fn finish(self) -> anyhow::Result<Sum> {
        self.file.sync_all()?;
        let hash = self.hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Sum { bytes: self.bytes, hash })
    }
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A part that is still in the processor's cache when it is hashed.
        let written = self.file.write(&bytes[..bytes.len().min(PART)])?;
        self.hasher.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
