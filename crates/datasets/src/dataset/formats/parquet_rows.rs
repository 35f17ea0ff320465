//! Parquet files of others: any types, nested ones too, become JSON.

use std::collections::VecDeque;
use std::iter::from_fn;

use arrow_array::RecordBatch;
use arrow_json::WriterBuilder;
use arrow_json::writer::LineDelimited;
use domain::dataset::{LONGEST_ROW, MOST_COLUMNS};
use domain::untrusted;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use serde_json::Value;

use super::PlacedRow;
use crate::dataset::bad_source::{Place, SourceError};
use crate::dataset::stored_file::StoredFile;

/// Rows that are decoded at once: few, because each may be long.
const BATCH: usize = 64;

/// # Errors
/// It is no Parquet file, or a column is of a type that no JSON can tell.
pub fn rows(
    file: &str,
    contents: StoredFile,
) -> Result<impl Iterator<Item = Result<PlacedRow, SourceError>> + use<>, SourceError> {
    let broken = |error: &dyn std::fmt::Display| {
        SourceError::whole(file, format!("it is no Parquet file that can be read: {error}"))
    };
    let builder = ParquetRecordBatchReaderBuilder::try_new(contents).map_err(|error| broken(&error))?;
    let columns = builder.schema().fields().len();
    if columns > MOST_COLUMNS {
        let message = format!("it has {columns} columns, and a dataset may have {MOST_COLUMNS}");
        return Err(SourceError::whole(file, message));
    }
    let reader = builder.with_batch_size(BATCH).build().map_err(|error| broken(&error))?;
    let mut batches = Batches { file: file.to_owned(), reader, rows: VecDeque::new(), read: 0 };
    Ok(from_fn(move || batches.next().transpose()).fuse())
}

struct Batches {
    file: String,
    reader: ParquetRecordBatchReader,
    rows: VecDeque<PlacedRow>,
    read: u64,
}

impl Batches {
    fn next(&mut self) -> Result<Option<PlacedRow>, SourceError> {
        while self.rows.is_empty() {
            let Some(batch) = self.reader.next() else { return Ok(None) };
            let batch = batch.map_err(|error| self.wrong(format!("the file is broken here: {error}")))?;
            self.decode(&batch)?;
        }
        Ok(self.rows.pop_front())
    }

    fn decode(&mut self, batch: &RecordBatch) -> Result<(), SourceError> {
        let mut lines = WriterBuilder::new().with_explicit_nulls(true).build::<_, LineDelimited>(Vec::new());
        let written = lines.write(batch).and_then(|()| lines.finish());
        written.map_err(|error| self.wrong(format!("it cannot be written as JSON: {error}")))?;
        for line in lines.into_inner().split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            if line.len() > LONGEST_ROW {
                return Err(self.wrong(format!("the row is longer than the {LONGEST_ROW} bytes that it may have")));
            }
            let row = serde_json::from_slice::<Value>(line).map_err(|error| self.wrong(error.to_string()))?;
            untrusted::check(&row).map_err(|error| self.wrong(error))?;
            let Value::Object(row) = row else { return Err(self.wrong("it is no object".to_owned())) };
            self.read += 1;
            self.rows.push_back(PlacedRow { place: Place::Row(self.read), row, bytes: line.len() });
        }
        Ok(())
    }

    /// What is wrong with the row that is next.
    fn wrong(&self, message: String) -> SourceError {
        SourceError::new(&self.file, Place::Row(self.read + 1), message)
    }
}
