//! How large the files of an export, or of a dataset, may become.

use std::io;
use std::sync::Arc;

use domain::storage::{NoRoom, ProjectStorage};
use runtime::Disks;

/// Bytes after which the disk is looked at again.
const LOOK: u64 = 16 << 20;

/// The limit on the size of one file. Each file gets a clone.
#[derive(Debug, Clone, Default)]
pub struct Room {
    /// `None`: as much as the disk has.
    most: Option<(u64, NoRoom)>,
    disks: Arc<Disks>,
}

impl Room {
    /// For an export of a project.
    ///
    /// # Errors
    /// There is none, on the disk or for the project.
    pub fn of(storage: &ProjectStorage, disks: Disks) -> Result<Self, NoRoom> {
        storage.room_for(0)?;
        Self::up_to(storage.export_limit(), disks)
    }

    /// For a dataset or an index of a project.
    ///
    /// # Errors
    /// There is none, on the disk or for the project.
    pub fn of_dataset(storage: &ProjectStorage, disks: Disks) -> Result<Self, NoRoom> {
        storage.room_for(0)?;
        Self::up_to(storage.dataset_limit(), disks)
    }

    fn up_to(limit: Option<(i64, NoRoom)>, disks: Disks) -> Result<Self, NoRoom> {
        disks.room()?;
        let most = limit.map(|(most, beyond)| (u64::try_from(most).unwrap_or_default(), beyond));
        Ok(Self { most, disks: Arc::new(disks) })
    }

    /// The room that is left after other files took so many bytes.
    #[must_use]
    pub fn beside(&self, bytes: u64) -> Self {
        let most = self.most.clone().map(|(most, beyond)| (most.saturating_sub(bytes), beyond));
        Self { most, disks: Arc::clone(&self.disks) }
    }

    /// Whether more may be written to a file that has so many bytes.
    ///
    /// # Errors
    /// A sentence for whoever asked for the export.
    pub fn check(&self, written: u64, more: u64) -> io::Result<()> {
        if let Some((_, beyond)) = self.most.as_ref().filter(|(most, _)| written + more > *most) {
            return Err(io::Error::other(beyond.clone()));
        }
        if written / LOOK != (written + more) / LOOK {
            self.disks.room().map_err(io::Error::other)?;
        }
        Ok(())
    }
}
