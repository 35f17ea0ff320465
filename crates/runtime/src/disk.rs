//! The room that is left on the disks that this process writes to.

use std::path::{Path, PathBuf};

use domain::storage::{NoRoom, readable_bytes};

/// A disk with less is full: PostgreSQL keeps up to 1 GiB of its log (`max_wal_size`), and stops when it cannot write it.
const LEAST_FREE: u64 = 1 << 30;
/// So is one with less than this share of its size, because others on the machine write to it, too.
const LEAST_SHARE: u64 = 20;
/// But nobody needs to keep more than this free, however large the disk is: a run fills it in minutes, and is paused within
/// seconds.
const MOST_FREE: u64 = 10 << 30;

/// What a disk has, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    pub size: u64,
    pub free: u64,
}

impl Space {
    fn least_free(self) -> u64 {
        (self.size / LEAST_SHARE).clamp(LEAST_FREE, MOST_FREE)
    }

    /// The room on the disk of a folder; `None` if it cannot be told, such as before the folder is made.
    pub fn of(folder: &Path) -> Option<Self> {
        let disk = rustix::fs::statvfs(folder).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
        // What is kept back for the administrator of the machine is not ours.
        Some(Self { size: bytes(disk.f_blocks), free: bytes(disk.f_bavail) })
    }
}

/// The folders that a process writes to: its private database, and the files of exports.
#[derive(Debug, Clone)]
pub struct Disks {
    pub folders: Vec<PathBuf>,
    /// Tests have disks of their own.
    pub space: fn(&Path) -> Option<Space>,
}

impl Default for Disks {
    fn default() -> Self {
        Self { folders: Vec::new(), space: Space::of }
    }
}

impl Disks {
    pub fn of(folders: Vec<PathBuf>) -> Self {
        Self { folders, ..Self::default() }
    }

    /// # Errors
    /// One of the disks is full, or nearly.
    pub fn room(&self) -> Result<(), NoRoom> {
        self.folders.iter().try_for_each(|folder| {
            let Some(space) = (self.space)(folder) else { return Ok(()) };
            let least = space.least_free();
            if space.free >= least {
                return Ok(());
            }
            let [free, least] = [space.free, least].map(|n| readable_bytes(i64::try_from(n).unwrap_or(i64::MAX)));
            Err(NoRoom(format!(
                "the disk of {} has {free} free, and at least {least} are needed; make room there",
                folder.display()
            )))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn a_disk_is_full_while_there_is_still_some_room() {
        let full = |size, free| {
            let disks = Disks { folders: vec!["/data".into()], space: |_| None };
            assert_eq!(disks.room(), Ok(()), "nothing is known of it");
            let space = Space { size, free };
            space.free < space.least_free()
        };
        assert!(full(10 * GIB, GIB - 1) && !full(10 * GIB, GIB));
        assert!(full(100 * GIB, 5 * GIB - 1) && !full(100 * GIB, 5 * GIB));
        assert!(full(4000 * GIB, 10 * GIB - 1) && !full(4000 * GIB, 10 * GIB));
    }

    #[test]
    fn people_are_told_which_disk_is_full() {
        let space = |_: &Path| Some(Space { size: 100 * GIB, free: 2 * GIB });
        let told = Disks { folders: vec!["/data".into()], space }.room().unwrap_err().to_string();
        assert_eq!(told, "the disk of /data has 2.0 GiB free, and at least 5.0 GiB are needed; make room there");
    }

    #[test]
    fn disks_are_measured() {
        let space = Space::of(&std::env::temp_dir()).unwrap();
        assert!(space.size > 0 && space.free <= space.size, "{space:?}");
        assert_eq!(Space::of(Path::new("/no/such/folder")), None);
    }
}
