//! Datasets: rows from files, kept as Parquet in object storage and read a row group at a time.
//!
//! `import` reads files of any format, a row at a time, and `writer` keeps them. Memory is bounded by one row group on the way
//! in, and by the cached row groups on the way out, whatever the size of the dataset.

mod bad_source;
mod cells;
pub mod files;
mod format;
mod formats;
pub mod import;
pub mod job;
mod open;
mod outputs;
mod row_groups;
pub mod sample;
mod schema;
pub mod source;
mod statistics;
mod stored_file;
#[cfg(test)]
mod tests;
mod writer;

pub use bad_source::{Place, SourceError};
pub use files::SourceFile;
pub use formats::DecodeParquet;
pub use open::OpenDataset;
pub use writer::WrittenDataset;

/// A row: the names of columns and their values.
pub type Row = serde_json::Map<String, serde_json::Value>;
