//! Datasets: immutable rows, kept as Parquet in object storage. What their columns are like, and where they come from.

mod statistics;

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

pub use statistics::{ColumnStatistics, Histogram, NumberStatistics, ValueCount};

use crate::export::{CorpusRows, RunRows};

/// Bytes of one row, as it stands in a file. A row is held in memory as a whole; an article of an encyclopaedia has 1 MB.
pub const LONGEST_ROW: usize = 16 << 20;
/// Columns of a dataset. Wide tables of features have a few hundred.
pub const MOST_COLUMNS: usize = 1_000;
/// Rows of a dataset: what a position is counted by elsewhere.
pub const MOST_ROWS: u64 = 1 << 31;

/// What is in a column. Every column may also hold nothing (`null`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ColumnType {
    Text,
    /// From -2^63 to 2^63 - 1.
    Integer,
    Number,
    Boolean,
    /// Lists, objects, or values of several types: kept as JSON.
    Json,
}

impl ColumnType {
    /// The type that holds values of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Integer, Self::Number) | (Self::Number, Self::Integer) => Self::Number,
            (one, another) if one as u8 == another as u8 => one,
            _ => Self::Json,
        }
    }
}

/// A column of a dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Column {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: ColumnType,
    pub statistics: ColumnStatistics,
}

/// One Parquet file of a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DatasetPart {
    /// Its path in the object storage.
    pub object: String,
    pub bytes: u64,
    /// Rows of each of its row groups.
    pub groups: Vec<u32>,
}

impl DatasetPart {
    pub fn rows(&self) -> u64 {
        self.groups.iter().copied().map(u64::from).sum()
    }
}

/// Where the rows of a dataset come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DatasetSource {
    /// A file that was uploaded.
    Upload(UploadRows),
    /// Files of the machine, or of an S3 bucket, that `groundstate datasets add` names. The API refuses it.
    Files(FileRows),
    /// Conversations of a run, in the canonical form of an export. Of a run of a workflow, the outputs of the rows that have one; then
    /// there are no options.
    Run(RunRows),
    /// Conversations of a corpus, in the canonical form of an export.
    Corpus(CorpusRows),
    /// The records of an export.
    Export(ExportRows),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UploadRows {
    /// Id of the upload.
    pub id: String,
    /// Keep all values of a CSV file as texts, instead of reading numbers and booleans.
    #[serde(default)]
    pub csv_as_text: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FileRows {
    /// A file, a folder, or an `s3://` address of an object or a prefix.
    pub path: String,
    /// Keep all values of CSV files as texts, instead of reading numbers and booleans.
    #[serde(default)]
    pub csv_as_text: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportRows {
    /// Id of the export.
    pub id: String,
}

/// Which columns of a dataset make the documents of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IndexColumns {
    /// Names a document; `id` unless it is said otherwise. Without such a column, the position of the row.
    pub id: String,
    /// Searched as well as the text, if there is such a column.
    pub title: String,
    /// Searched; it must be there.
    pub text: String,
    /// Told with each document, if there is such a column.
    pub url: String,
}

impl Default for IndexColumns {
    fn default() -> Self {
        let [id, title, text, url] = ["id", "title", "text", "url"].map(str::to_owned);
        Self { id, title, text, url }
    }
}

/// One file of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexFile {
    /// Its path in the object storage.
    pub object: String,
    /// Its name in the folder of the index.
    pub name: String,
    pub bytes: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_two_types_holds_both() {
        use ColumnType::{Boolean, Integer, Json, Number, Text};
        for (one, other, both) in [
            (Integer, Integer, Integer),
            (Integer, Number, Number),
            (Number, Integer, Number),
            (Text, Integer, Json),
            (Boolean, Number, Json),
            (Json, Text, Json),
        ] {
            assert_eq!(one.with(other), both, "{one} and {other}");
        }
    }
}
