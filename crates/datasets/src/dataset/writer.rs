//! Rows, written to object storage as Parquet files: a row group at a time, so that no more than one is in memory.

use std::io;

use anyhow::Context as _;
use domain::dataset::{Column, ColumnType, DatasetPart, MOST_ROWS};
use object_store::buffered::BufWriter;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use sha2::{Digest as _, Sha256};
use store::objects::Objects;
use tokio::runtime::Handle;
use tokio_util::io::SyncIoBridge;

use super::Row;
use super::row_groups::Layout;
use super::schema::Columns;
use super::statistics::Collector;
use crate::room::Room;

/// How rows are grouped.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Rows of a group at most, and bytes of their source after which a group is full: a reader holds a few groups.
    pub group_rows: usize,
    pub group_bytes: usize,
    /// Bytes of a file after which the next one begins.
    pub part_bytes: u64,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { group_rows: 8_192, group_bytes: 8 << 20, part_bytes: 256 << 20 }
    }
}

/// Everything that is known of a dataset once it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenDataset {
    pub rows: u64,
    pub bytes: u64,
    /// SHA-256 of the rows as JSON lines, without values that are null, in hex: the same rows have the same, whatever the
    /// files that they were read from.
    pub hash: String,
    pub columns: Vec<Column>,
    pub parts: Vec<DatasetPart>,
}

/// Writes rows. It waits for the storage, so it must be used by a blocking thread.
pub struct DatasetWriter {
    objects: Objects,
    /// How the paths of its objects begin.
    prefix: String,
    sizes: Sizes,
    room: Room,
    runtime: Handle,
    pub columns: Columns,
    statistics: Vec<Collector>,
    group: Vec<Row>,
    group_bytes: usize,
    part: Option<OpenPart>,
    parts: Vec<DatasetPart>,
    rows: u64,
    bytes: u64,
    hasher: Sha256,
    line: Vec<u8>,
}

struct OpenPart {
    object: String,
    layout: Layout,
    writer: ArrowWriter<SyncIoBridge<BufWriter>>,
    groups: Vec<u32>,
    /// That it had when the room was looked at last.
    bytes: u64,
}

impl DatasetWriter {
    pub fn new(objects: Objects, prefix: String, sizes: Sizes, room: Room, runtime: Handle) -> Self {
        Self {
            objects,
            prefix,
            sizes,
            room,
            runtime,
            columns: Columns::default(),
            statistics: Vec::new(),
            group: Vec::new(),
            group_bytes: 0,
            part: None,
            parts: Vec::new(),
            rows: 0,
            bytes: 0,
            hasher: Sha256::new(),
            line: Vec::new(),
        }
    }

    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Takes a row, which takes so many bytes.
    ///
    /// # Errors
    /// [`RowError::Columns`] if its columns are others, else the storage.
    pub fn push(&mut self, row: Row, bytes: usize) -> Result<(), RowError> {
        if self.rows >= MOST_ROWS {
            return Err(RowError::Columns(format!("there are more than the {MOST_ROWS} rows that a dataset may have")));
        }
        self.columns.add(&row).map_err(RowError::Columns)?;
        self.count(&row)?;
        self.group.push(row);
        self.group_bytes += bytes;
        self.rows += 1;
        if self.group.len() >= self.sizes.group_rows || self.group_bytes >= self.sizes.group_bytes {
            self.write_group()?;
        }
        Ok(())
    }

    fn count(&mut self, row: &Row) -> anyhow::Result<()> {
        self.statistics.resize_with(self.columns.names.len(), Collector::default);
        self.line.clear();
        let columns = self.columns.names.iter().zip(&mut self.statistics);
        for (name, statistics) in columns {
            let Some(value) = row.get(name).filter(|value| !value.is_null()) else { continue };
            statistics.add(value);
            self.line.push(if self.line.is_empty() { b'{' } else { b',' });
            serde_json::to_writer(&mut self.line, name)?;
            self.line.push(b':');
            serde_json::to_writer(&mut self.line, value)?;
        }
        self.line.extend_from_slice(b"}\n");
        self.hasher.update(&self.line);
        Ok(())
    }

    fn write_group(&mut self) -> anyhow::Result<()> {
        if self.group.is_empty() || self.columns.names.is_empty() {
            return Ok(());
        }
        let (names, kinds) = (&self.columns.names, &self.columns.kinds);
        if self.part.as_ref().is_some_and(|part| !part.layout.holds(names, kinds)) {
            self.end_part()?;
        }
        let mut part = match self.part.take() {
            Some(part) => part,
            None => self.begin_part()?,
        };
        let written = part.write(&self.group);
        let now = part.writer.bytes_written() as u64;
        let (before, more) = (self.bytes + part.bytes, now - part.bytes);
        part.bytes = now;
        self.part = Some(part);
        written?;
        self.room.check(before, more)?;
        self.group.clear();
        self.group_bytes = 0;
        if now >= self.sizes.part_bytes {
            self.end_part()?;
        }
        Ok(())
    }

    fn begin_part(&self) -> anyhow::Result<OpenPart> {
        let object = format!("{}-{:05}.parquet", self.prefix, self.parts.len());
        let layout = Layout::new(&self.columns.names, &self.columns.kinds);
        let to = SyncIoBridge::new_with_handle(self.objects.writer(&object)?, self.runtime.clone());
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?)).build();
        let writer = ArrowWriter::try_new(to, layout.schema(), Some(properties))?;
        Ok(OpenPart { object, layout, writer, groups: Vec::new(), bytes: 0 })
    }

    fn end_part(&mut self) -> anyhow::Result<()> {
        let Some(mut part) = self.part.take() else { return Ok(()) };
        let ended =
            part.writer.finish().map_err(anyhow::Error::from).and_then(|_| Ok(part.writer.inner_mut().shutdown()?));
        ended.with_context(|| format!("cannot write to {}", self.objects.place()))?;
        let bytes = part.writer.bytes_written() as u64;
        self.bytes += bytes;
        self.parts.push(DatasetPart { object: part.object, bytes, groups: part.groups });
        Ok(())
    }

    /// Keeps what is left in memory.
    ///
    /// # Errors
    /// The storage.
    pub fn finish(&mut self) -> anyhow::Result<WrittenDataset> {
        self.write_group()?;
        self.end_part()?;
        let columns = std::mem::take(&mut self.columns);
        let kinds = columns.kinds.iter().map(|kind| kind.unwrap_or(ColumnType::Json));
        let described = columns.names.into_iter().zip(kinds).zip(std::mem::take(&mut self.statistics));
        let column = |((name, kind), statistics): ((String, ColumnType), Collector)| Column {
            name,
            kind,
            statistics: statistics.finish(self.rows),
        };
        Ok(WrittenDataset {
            rows: self.rows,
            bytes: self.bytes,
            hash: hex::encode(self.hasher.finalize_reset()),
            columns: described.map(column).collect(),
            parts: std::mem::take(&mut self.parts),
        })
    }

    /// Deletes what was written, as well as it can.
    pub fn abandon(&mut self) {
        if let Some(mut part) = self.part.take() {
            let _ = self.runtime.block_on(part.writer.inner_mut().as_mut().abort());
        }
        for part in self.parts.drain(..) {
            let _ = self.runtime.block_on(self.objects.delete(&part.object));
        }
    }
}

impl OpenPart {
    fn write(&mut self, rows: &[Row]) -> anyhow::Result<()> {
        self.writer.write(&self.layout.encode(rows)?)?;
        self.writer.flush()?;
        self.groups.push(u32::try_from(rows.len())?);
        Ok(())
    }
}

/// Why a row was not taken.
#[derive(Debug, thiserror::Error)]
pub enum RowError {
    /// What is wrong with the row, for people.
    #[error("{0}")]
    Columns(String),
    #[error(transparent)]
    Failed(#[from] anyhow::Error),
}

impl From<io::Error> for RowError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.into())
    }
}
