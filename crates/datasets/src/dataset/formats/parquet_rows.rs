//! Parquet files of others: any types, nested ones too, become JSON.
//!
//! A few bytes of such a file can claim pages of gigabytes, repeat a value a thousand million times, or nest types without end,
//! and libraries allocate what it claims. Jobs therefore have it decoded in a sandboxed process.

use std::collections::VecDeque;
use std::iter::from_fn;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use arrow_data::ArrayData;
use arrow_json::WriterBuilder;
use arrow_json::writer::LineDelimited;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use domain::dataset::{LONGEST_ROW, MOST_COLUMNS};
use domain::untrusted;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::reader::ChunkReader;
use serde_json::Value;

use super::PlacedRow;
use crate::dataset::bad_source::{Place, SourceError};

/// Rows that are decoded at once: few, because each may be long.
const BATCH: usize = 16;

/// # Errors
/// It is no Parquet file, or a column is of a type that no JSON can tell.
pub fn rows<R: ChunkReader + 'static>(
    file: &str,
    contents: R,
) -> Result<impl Iterator<Item = Result<PlacedRow, SourceError>> + use<R>, SourceError> {
    let mut placed = Placed::of(file);
    Ok(lines(file, contents)?.map(move |line| placed.row(&line?)))
}

/// The rows as lines of JSON.
///
/// # Errors
/// As [`rows`].
pub fn lines<R: ChunkReader + 'static>(
    file: &str,
    contents: R,
) -> Result<impl Iterator<Item = Result<Vec<u8>, SourceError>> + use<R>, SourceError> {
    let broken = |error: &dyn std::fmt::Display| {
        SourceError::whole(file, format!("it is no Parquet file that can be read: {error}"))
    };
    let builder = ParquetRecordBatchReaderBuilder::try_new(contents).map_err(|error| broken(&error))?;
    let columns = builder.schema().fields().len();
    if columns > MOST_COLUMNS {
        let message = format!("it has {columns} columns, and a dataset may have {MOST_COLUMNS}");
        return Err(SourceError::whole(file, message));
    }
    let names: Vec<&String> = builder.schema().fields().iter().map(|field| field.name()).collect();
    if let Some((_, name)) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        return Err(SourceError::whole(file, format!("it has two columns with the name `{name}`")));
    }
    let reader = builder.with_batch_size(BATCH).build().map_err(|error| broken(&error))?;
    let mut batches = Batches { file: file.to_owned(), reader, lines: VecDeque::new(), read: 0 };
    Ok(from_fn(move || batches.next().transpose()).fuse())
}

struct Batches {
    file: String,
    reader: ParquetRecordBatchReader,
    lines: VecDeque<Vec<u8>>,
    read: u64,
}

impl Batches {
    fn next(&mut self) -> Result<Option<Vec<u8>>, SourceError> {
        while self.lines.is_empty() {
            let Some(batch) = self.reader.next() else { return Ok(None) };
            let batch = batch.map_err(|error| self.wrong(format!("the file is broken here: {error}")))?;
            self.decode(&batch)?;
        }
        let Some(line) = self.lines.pop_front() else { return Ok(None) };
        if line.len() > LONGEST_ROW {
            return Err(self.wrong(format!("the row is longer than the {LONGEST_ROW} bytes that it may have")));
        }
        self.read += 1;
        Ok(Some(line))
    }

    fn decode(&mut self, batch: &RecordBatch) -> Result<(), SourceError> {
        let mut lines = WriterBuilder::new().with_explicit_nulls(true).build::<_, LineDelimited>(Vec::new());
        let batch = without_zone_names(batch).map_err(|error| self.wrong(error.to_string()))?;
        let written = lines.write(&batch).and_then(|()| lines.finish());
        written.map_err(|error| self.wrong(format!("it cannot be written as JSON: {error}")))?;
        let written = lines.into_inner();
        self.lines = written.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect();
        Ok(())
    }

    /// What is wrong with the row that is next.
    fn wrong(&self, message: String) -> SourceError {
        SourceError::new(&self.file, Place::Row(self.read + 1), message)
    }
}

/// Moments of a named time zone, such as `UTC`, as moments of the offset +00:00: Parquet keeps all of them in UTC, and names of zones
/// mean nothing without a database of them.
fn without_zone_names(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().map(|column| Ok(make_array(in_utc(column.to_data())?)));
    let columns = columns.collect::<Result<Vec<ArrayRef>, ArrowError>>()?;
    let schema = batch.schema();
    let fields = schema.fields().iter().zip(&columns);
    let fields = fields.map(|(field, column)| field.as_ref().clone().with_data_type(column.data_type().clone()));
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields.collect::<Vec<Field>>())), columns, &rows)
}

fn in_utc(data: ArrayData) -> Result<ArrayData, ArrowError> {
    let of = utc_type(data.data_type());
    if of == *data.data_type() {
        return Ok(data);
    }
    let children = data.child_data().iter().cloned().map(in_utc).collect::<Result<_, _>>()?;
    data.into_builder().data_type(of).child_data(children).build()
}

fn utc_type(of: &DataType) -> DataType {
    let inner = |field: &Arc<Field>| Arc::new(field.as_ref().clone().with_data_type(utc_type(field.data_type())));
    match of {
        DataType::Timestamp(unit, Some(zone)) if !zone.starts_with(['+', '-']) => {
            DataType::Timestamp(*unit, Some("+00:00".into()))
        }
        DataType::List(item) => DataType::List(inner(item)),
        DataType::LargeList(item) => DataType::LargeList(inner(item)),
        DataType::FixedSizeList(item, n) => DataType::FixedSizeList(inner(item), *n),
        DataType::Map(entries, sorted) => DataType::Map(inner(entries), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect()),
        DataType::Dictionary(key, value) => DataType::Dictionary(key.clone(), Box::new(utc_type(value))),
        other => other.clone(),
    }
}

/// Reads lines as rows.
pub struct Placed {
    file: String,
    read: u64,
}

impl Placed {
    pub fn of(file: &str) -> Self {
        Self { file: file.to_owned(), read: 0 }
    }

    /// # Errors
    /// The line is none that can be kept.
    pub fn row(&mut self, line: &[u8]) -> Result<PlacedRow, SourceError> {
        self.read += 1;
        let place = Place::Row(self.read);
        let wrong = |message: String| SourceError::new(&self.file, place, message);
        let row = serde_json::from_slice::<Value>(line).map_err(|error| wrong(error.to_string()))?;
        untrusted::check(&row).map_err(wrong)?;
        let Value::Object(row) = row else { return Err(wrong("it is no object".to_owned())) };
        Ok(PlacedRow { place, row, bytes: line.len() })
    }
}
