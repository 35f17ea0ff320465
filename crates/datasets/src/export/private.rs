//! Files and folders that only the owner of the process can read: exports hold what people said. Whoever is to have one is
//! given it.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

const FOLDER: u32 = 0o700;
const FILE: u32 = 0o600;

/// A new file, or an empty one in place of what was there; a device or a pipe is written to as it is.
pub fn file(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(FILE).open(path)?;
    // The mode of what was there stays otherwise. A device, such as /dev/null, belongs to everybody.
    if file.metadata()?.is_file() {
        file.set_permissions(Permissions::from_mode(FILE))?;
    }
    Ok(file)
}

pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    io::Write::write_all(&mut file(path)?, contents.as_ref())
}

/// A folder and those around it that are missing. One that is there is closed to others.
pub fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER).create(path)?;
    if fs::metadata(path)?.mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(FOLDER))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::thread;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn nobody_else_reads_what_is_written_whatever_was_there() {
        let dir = tempfile::tempdir().unwrap();
        let within = dir.path().join("a/b");
        folder(&within).unwrap();
        assert_eq!((mode(&dir.path().join("a")), mode(&within)), (0o700, 0o700));
        fs::set_permissions(&within, Permissions::from_mode(0o755)).unwrap();
        folder(&within).unwrap();
        assert_eq!(mode(&within), 0o700);
        let path = within.join("rows");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        write(&path, "new").unwrap();
        assert_eq!((mode(&path), fs::read_to_string(&path).unwrap()), (0o600, "new".to_owned()));
    }

    #[test]
    fn a_pipe_is_written_to_and_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        fs::set_permissions(&pipe, Permissions::from_mode(0o644)).unwrap();
        let read_end = pipe.clone();
        let reader = thread::spawn(move || fs::read_to_string(read_end).unwrap());
        write(&pipe, "rows").unwrap();
        assert_eq!((reader.join().unwrap(), mode(&pipe)), ("rows".to_owned(), 0o644));
    }
}
