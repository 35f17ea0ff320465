//! What a project may take of the disk.

mod size;

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use size::{exact_bytes, parse_bytes, readable_bytes};

/// Bytes of a project: 13 million conversations of the size that is measured (`bench/README.md`), and a fifth of a disk of
/// 1 TB. A demonstration takes a few MB.
pub const DEFAULT_BYTES: i64 = 200 << 30;
/// Conversations of one run: twice the largest run that is measured. A larger one is more likely a typing error.
pub const DEFAULT_CONVERSATIONS: i64 = 2_000_000;
/// Rows of one run: four times the largest run that is measured.
pub const DEFAULT_ROWS: i64 = 100_000_000;
/// Bytes of one export: half of what a project may have, so that a new one fits beside the one that it replaces.
pub const DEFAULT_EXPORT_BYTES: i64 = 100 << 30;

/// What a project may take of the disk. `null` or an absent field means no limit but the room on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StorageLimits {
    /// Bytes of its runs, exports, datasets and versions of documents together.
    #[serde(default)]
    pub bytes: Option<i64>,
    /// Conversations of one run.
    #[serde(default)]
    pub conversations: Option<i64>,
    /// Rows of one run of a workflow.
    #[serde(default)]
    pub rows: Option<i64>,
    /// Bytes of one export.
    #[serde(default)]
    pub export_bytes: Option<i64>,
}

impl Default for StorageLimits {
    fn default() -> Self {
        Self {
            bytes: Some(DEFAULT_BYTES),
            conversations: Some(DEFAULT_CONVERSATIONS),
            rows: Some(DEFAULT_ROWS),
            export_bytes: Some(DEFAULT_EXPORT_BYTES),
        }
    }
}

impl StorageLimits {
    pub const UNLIMITED: Self = Self { bytes: None, conversations: None, rows: None, export_bytes: None };

    /// What is wrong with them, field by field.
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let fields = [
            ("bytes", self.bytes),
            ("conversations", self.conversations),
            ("rows", self.rows),
            ("export_bytes", self.export_bytes),
        ];
        let wrong = fields.into_iter().filter(|(_, limit)| limit.is_some_and(|limit| limit <= 0));
        wrong.map(|(field, _)| (field, "must be more than 0; null means no limit".to_owned())).collect()
    }
}

/// What a project takes of the disk, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StorageUse {
    /// The events of its runs, counted when they are stored. What PostgreSQL needs beside them is estimated.
    pub runs: i64,
    /// The files of its exports.
    pub exports: i64,
    /// The texts of all versions of its documents.
    pub documents: i64,
    /// The files of its datasets and indexes, and what was uploaded for datasets and is not one yet.
    #[serde(default)]
    pub datasets: i64,
}

impl StorageUse {
    pub fn total(&self) -> i64 {
        [self.exports, self.documents, self.datasets].into_iter().fold(self.runs, i64::saturating_add)
    }
}

/// What a project takes of the disk, and what it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProjectStorage {
    pub used: StorageUse,
    pub limits: StorageLimits,
}

/// Something is not stored because a project, or the disk, has no room for it: why, and what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoRoom(pub String);

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoRoom {}

impl ProjectStorage {
    /// # Errors
    /// The project has no room for so many bytes more, or none at all.
    pub fn room_for(&self, more: i64) -> Result<(), NoRoom> {
        let Some(most) = self.limits.bytes else { return Ok(()) };
        let total = self.used.total();
        if total < most && more <= most - total {
            return Ok(());
        }
        let StorageUse { runs, exports, documents, datasets } = self.used;
        let [used, allowed, runs, exports, documents, datasets, more] =
            [total, most, runs, exports, documents, datasets, more].map(readable_bytes);
        let needed = if total < most { format!(", and this needs {more} more") } else { String::new() };
        Err(NoRoom(format!(
            "the project uses {used} of the {allowed} that it may store (runs {runs}, exports {exports}, datasets \
             {datasets}, documents {documents}){needed}; delete exports or datasets, or ask an administrator to raise the \
             project's limit"
        )))
    }

    /// # Errors
    /// A run may not have so many conversations, or the project has no room for any.
    pub fn room_for_conversations(&self, conversations: i64) -> Result<(), NoRoom> {
        self.room_for_run(conversations, "conversations", self.limits.conversations)
    }

    /// # Errors
    /// A run may not have so many rows, or the project has no room for any.
    pub fn room_for_rows(&self, rows: i64) -> Result<(), NoRoom> {
        self.room_for_run(rows, "rows", self.limits.rows)
    }

    fn room_for_run(&self, planned: i64, unit: &str, most: Option<i64>) -> Result<(), NoRoom> {
        if let Some(most) = most.filter(|most| planned > *most) {
            return Err(NoRoom(format!(
                "the run would have {planned} {unit}, and a run of this project may have {most}; order fewer, or ask an \
                 administrator to raise the project's limit"
            )));
        }
        self.room_for(0)
    }

    /// What one more dataset or index may take, and what its maker is told beyond that; `None`: there is no limit.
    pub fn dataset_limit(&self) -> Option<(i64, NoRoom)> {
        let left = self.limits.bytes?.saturating_sub(self.used.total());
        let reason = self.room_for(left.max(0).saturating_add(1)).err()?;
        Some((left, NoRoom(format!("there is no room for all of it: {reason}"))))
    }

    /// What one more export may take, and what its maker is told beyond that; `None`: there is no limit.
    pub fn export_limit(&self) -> Option<(i64, NoRoom)> {
        let left = self.limits.bytes.map(|most| most.saturating_sub(self.used.total()));
        match (self.limits.export_bytes, left) {
            (Some(most), left) if left.is_none_or(|left| most <= left) => {
                let allowed = readable_bytes(most);
                let reason = format!(
                    "the export is larger than the {allowed} that one export of this project may have; select fewer \
                     conversations, or ask an administrator to raise the project's limit"
                );
                Some((most, NoRoom(reason)))
            }
            (_, Some(left)) => {
                let reason = self.room_for(left.max(0).saturating_add(1)).err()?;
                Some((left, NoRoom(format!("there is no room for the export: {reason}"))))
            }
            (_, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storage(bytes: Option<i64>, export_bytes: Option<i64>) -> ProjectStorage {
        let used = StorageUse { runs: 600, exports: 200, documents: 100, datasets: 100 };
        ProjectStorage { used, limits: StorageLimits { bytes, conversations: Some(10), rows: Some(20), export_bytes } }
    }

    #[test]
    fn a_project_has_room_up_to_its_limit() {
        assert_eq!(storage(None, None).room_for(i64::MAX), Ok(()));
        assert_eq!(storage(Some(1100), None).room_for(100), Ok(()));
        let refused = storage(Some(1100), None).room_for(101).unwrap_err().to_string();
        assert_eq!(
            refused,
            "the project uses 1000 B of the 1.1 KiB that it may store (runs 600 B, exports 200 B, datasets 100 B, \
             documents 100 B), and this needs 101 B more; delete exports or datasets, or ask an administrator to raise \
             the project's limit"
        );
        let full = storage(Some(1000), None).room_for(0).unwrap_err().to_string();
        assert!(full.starts_with("the project uses 1000 B of the 1000 B") && !full.contains("more;"), "{full}");
    }

    #[test]
    fn a_run_has_so_many_conversations_or_rows_at_most() {
        assert_eq!(storage(None, None).room_for_conversations(10), Ok(()));
        assert_eq!(storage(None, None).room_for_rows(20), Ok(()));
        let refused = storage(None, None).room_for_rows(21).unwrap_err().to_string();
        assert!(refused.starts_with("the run would have 21 rows, and a run of this project may have 20"), "{refused}");
        let refused = storage(None, None).room_for_conversations(11).unwrap_err().to_string();
        assert!(refused.starts_with("the run would have 11 conversations, and a run of this project may have 10"));
        assert!(storage(Some(999), None).room_for_rows(1).is_err());
    }

    #[test]
    fn an_export_meets_the_nearer_limit() {
        assert_eq!(storage(None, None).export_limit(), None);
        let told = |bytes, export_bytes| {
            let (most, reason) = storage(bytes, export_bytes).export_limit().unwrap();
            (most, reason.to_string().starts_with("the export is larger than"))
        };
        assert_eq!(told(None, Some(50)), (50, true));
        assert_eq!(told(Some(1050), Some(50)), (50, true));
        assert_eq!(told(Some(1049), Some(50)), (49, false));
        assert_eq!(told(Some(1049), None), (49, false));
        assert_eq!(told(Some(900), Some(50)), (-100, false));
    }

    #[test]
    fn a_dataset_may_take_what_is_left() {
        assert_eq!(storage(None, Some(50)).dataset_limit(), None);
        let (most, reason) = storage(Some(1049), Some(50)).dataset_limit().unwrap();
        assert_eq!(most, 49);
        assert!(reason.to_string().starts_with("there is no room for all of it: the project uses 1000 B"), "{reason}");
    }

    #[test]
    fn limits_are_positive() {
        assert_eq!(StorageLimits::default().problems(), []);
        assert_eq!(StorageLimits::UNLIMITED.problems(), []);
        let wrong = StorageLimits { bytes: Some(0), conversations: Some(-1), rows: Some(0), export_bytes: Some(1) };
        assert_eq!(
            wrong.problems().iter().map(|(field, _)| *field).collect::<Vec<_>>(),
            ["bytes", "conversations", "rows"]
        );
    }
}
