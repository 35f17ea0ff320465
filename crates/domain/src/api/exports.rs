//! Exports: files made of a run or a corpus, for trainers.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::BuildState;
use crate::export::{ExportReport, ExportSpec};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExportSummary {
    pub id: String,
    pub spec: ExportSpec,
    pub state: BuildState,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Conversations that were read so far, and all.
    pub done: i64,
    pub total: i64,
    /// Name of the downloaded file.
    pub file_name: String,
    /// Size of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<i64>,
    /// SHA-256 of the file, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Records in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<i64>,
    /// Its data files, what was left out and why, and statistics of the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<ExportReport>,
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<DateTime<Utc>>,
}

/// What an export would look like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExportPreview {
    pub file_name: String,
    /// Conversations that would be read.
    pub total: i64,
    /// The first record; absent if none of the first conversations gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Value>,
    /// For a bundle: the card of an export of only the first conversations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<String>,
    /// How many conversations the record and the card were made from.
    pub looked_at: i64,
}

impl ExportPreview {
    /// Bytes of the whole export, uncompressed, if each conversation gives a record like the first; 0 without one.
    pub fn estimated_bytes(&self) -> u64 {
        let line = self.record.as_ref().and_then(|record| serde_json::to_string(record).ok());
        // Each record stands in a line of its own.
        let line = line.map_or(0, |line| line.len() as u64 + 1);
        line.saturating_mul(u64::try_from(self.total).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_export_is_as_large_as_its_first_record_times_its_conversations() {
        let of = |total, record| {
            ExportPreview { file_name: "rows.jsonl".to_owned(), total, record, card: None, looked_at: 1 }
                .estimated_bytes()
        };
        assert_eq!(of(100, Some(json!({"a": "é"}))), 1_100);
        assert_eq!((of(100, None), of(0, Some(json!({})))), (0, 0));
    }
}
