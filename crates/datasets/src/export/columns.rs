//! Records as columns of a Parquet file.

use std::io::Write;
use std::sync::Arc;

use anyhow::Context as _;
use arrow_json::ReaderBuilder;
use arrow_json::reader::Decoder;
use arrow_schema::{DataType, Field, Fields, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

/// Rows of a group at most. The Hub's viewer and streaming readers read whole groups.
const GROUP_ROWS: usize = 2_000;
/// Bytes of a group at which it is written, so that memory does not grow with long rows.
const GROUP_BYTES: usize = 32 << 20;

/// The columns of a file, and how JSON objects fill them.
pub struct Columns(Arc<Schema>);

impl Columns {
    pub fn new(fields: impl IntoIterator<Item = Field>) -> Self {
        Self(Arc::new(Schema::new(fields.into_iter().collect::<Vec<_>>())))
    }

    /// Writes records into columns.
    pub fn writer<W: Write + Send>(&self, to: W) -> anyhow::Result<Parquet<W>> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .build();
        Ok(Parquet {
            decoder: ReaderBuilder::new(Arc::clone(&self.0)).with_batch_size(GROUP_ROWS).build_decoder()?,
            writer: ArrowWriter::try_new(to, Arc::clone(&self.0), Some(properties))?,
        })
    }
}

pub struct Parquet<W: Write + Send> {
    decoder: Decoder,
    writer: ArrowWriter<W>,
}

impl<W: Write + Send> Parquet<W> {
    /// Takes whole records, one a line.
    pub fn write(&mut self, mut lines: &[u8]) -> anyhow::Result<()> {
        while !lines.is_empty() {
            let read = self.decoder.decode(lines).context("a record does not fit its columns")?;
            lines = &lines[read..];
            self.flush()?;
        }
        if self.writer.in_progress_size() > GROUP_BYTES {
            self.writer.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        if let Some(batch) = self.decoder.flush().context("a record does not fit its columns")? {
            self.writer.write(&batch)?;
        }
        Ok(())
    }

    pub fn finish(self) -> anyhow::Result<W> {
        Ok(self.writer.into_inner()?)
    }
}

pub fn text(name: &str) -> Field {
    Field::new(name, DataType::Utf8, true)
}

pub fn integer(name: &str) -> Field {
    Field::new(name, DataType::Int64, true)
}

pub fn float(name: &str) -> Field {
    Field::new(name, DataType::Float64, true)
}

pub fn boolean(name: &str) -> Field {
    Field::new(name, DataType::Boolean, true)
}

pub fn list(name: &str, item: Field) -> Field {
    Field::new(name, DataType::List(Arc::new(item)), true)
}

pub fn structure(name: &str, fields: impl IntoIterator<Item = Field>) -> Field {
    Field::new(name, DataType::Struct(Fields::from_iter(fields)), true)
}
