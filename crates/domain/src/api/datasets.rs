//! Datasets, uploads for them, and search indexes over them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::BuildState;
use crate::dataset::{DatasetSource, IndexColumns};
use crate::progress::JobProgress;

/// Rows that one request may ask for.
pub const MOST_ROWS_OF_PAGE: u16 = 200;
/// Bytes of one piece of an upload.
pub const LARGEST_PIECE: u64 = 16 << 20;
/// Hits that one search may ask for.
pub const MOST_HITS: u16 = 100;
/// Bytes of the words of a search.
pub const LONGEST_QUERY: usize = 4_000;

/// A version of a dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DatasetSummary {
    pub id: String,
    pub name: String,
    /// From 1; each dataset that is made under a name is its next version.
    pub version: i32,
    pub source: DatasetSource,
    pub state: BuildState,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The current or last step of making it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<JobProgress>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<i64>,
    /// Size of its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<i64>,
    /// SHA-256 of its rows as JSON lines, in hex: datasets with the same rows have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<DateTime<Utc>>,
}

/// A dataset to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDataset {
    /// 1 to 64 lower-case letters, digits, `_`, `-` and `.`. If there is a dataset with this name, this is its next version.
    pub name: String,
    pub source: DatasetSource,
}

/// Selects rows of a dataset.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct DatasetRowParams {
    /// Position of the first row, from 0; default: 0. Not with `seed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// How many rows, 1 to 200; default: 50.
    #[param(minimum = 1, maximum = 200)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u16>,
    /// Draw the rows at random; the same seed draws the same rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// Rows of a dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DatasetRows {
    /// How many rows the dataset has.
    pub total: u64,
    pub rows: Vec<DatasetRow>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DatasetRow {
    /// From 0.
    pub position: u64,
    /// The value of each column.
    pub values: Map<String, Value>,
}

/// An upload to be begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDatasetUpload {
    /// Its end tells the format, such as `.jsonl`, `.csv.gz` or `.parquet`.
    pub file_name: String,
    /// Size of the file.
    pub bytes: i64,
}

/// A file that is uploaded in pieces, to become a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DatasetUpload {
    pub id: String,
    pub file_name: String,
    /// Size of the file.
    pub bytes: i64,
    /// How much of it is there: the next piece begins at this offset.
    pub received: i64,
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    /// When it is deleted, unless more of it comes, or a dataset is being made of it.
    pub expires_at: DateTime<Utc>,
}

impl DatasetUpload {
    pub const fn is_whole(&self) -> bool {
        self.received == self.bytes
    }
}

/// Where a piece of an upload begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct PieceParams {
    /// Offset in the file: `received` of the upload.
    pub offset: u64,
}

/// A search index over a dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct IndexSummary {
    pub id: String,
    pub name: String,
    /// Id of the dataset's version.
    pub dataset: String,
    pub dataset_name: String,
    pub dataset_version: i32,
    pub columns: IndexColumns,
    pub state: BuildState,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The current or last step of building it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<JobProgress>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documents: Option<i64>,
    /// Size of its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<i64>,
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<DateTime<Utc>>,
}

/// An index to be built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewIndex {
    /// 1 to 64 lower-case letters, digits, `_`, `-` and `.`; no other index of the project may have it.
    pub name: String,
    /// Id of the dataset's version.
    pub dataset: String,
    #[serde(default)]
    pub columns: IndexColumns,
}

/// What is searched for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct SearchParams {
    /// Words; documents that hold more and rarer ones come first.
    pub query: String,
    /// How many documents, 1 to 100; default: 10.
    #[param(minimum = 1, maximum = 100)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<u16>,
}

/// A document that a search found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Hit {
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// BM25; only scores of one search can be compared.
    pub score: f32,
}
