//! What lies where under the data directory, and who may enter.

use std::env;
use std::fs::{self, Permissions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::account::Account;
use crate::error::PathContext;
use crate::{Error, Result};

/// `sockaddr_un` holds 107 bytes, and PostgreSQL puts `/.s.PGSQL.5432` after the directory.
const LONGEST_SOCKET_DIRECTORY: usize = 107 - "/.s.PGSQL.5432.lock".len();

#[derive(Clone, Debug)]
pub struct Files {
    /// Everything of PostgreSQL's, owned by the user it runs as, mode 0700: who cannot enter cannot connect either,
    /// which is why the socket inside needs no password.
    pub home: PathBuf,
    pub sockets: PathBuf,
}

impl Files {
    /// Makes `data_dir/postgres` and a directory for the socket.
    pub fn prepare(data_dir: &Path, account: &Account) -> Result<Self> {
        fs::create_dir_all(data_dir).at("create", data_dir)?;
        let data_dir = data_dir.canonicalize().at("look at", data_dir)?;
        let home = data_dir.join("postgres");
        account.can_reach(&home)?;
        private_directory(&home, account)?;
        let sockets = socket_directory(&home, &env::temp_dir());
        private_directory(&sockets, account)?;
        Ok(Self { home, sockets })
    }

    pub fn data_dir(&self) -> &Path {
        self.home.parent().unwrap_or(&self.home)
    }

    pub fn cluster(&self) -> PathBuf {
        self.home.join("data")
    }

    pub fn log(&self) -> PathBuf {
        self.home.join("postgres.log")
    }

    pub fn lock(&self) -> PathBuf {
        self.home.join("in-use.lock")
    }

    pub fn start_lock(&self) -> PathBuf {
        self.home.join("start.lock")
    }

    /// The last lines of the log, for error messages.
    pub fn log_tail(&self) -> String {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }
}

fn private_directory(path: &Path, account: &Account) -> Result<()> {
    match fs::create_dir(path) {
        Ok(()) => {
            fs::set_permissions(path, Permissions::from_mode(0o700)).at("protect", path)?;
            account.own(path)
        }
        Err(_) if path.is_dir() => {
            // In a temporary directory somebody else could have put it there first.
            let found = fs::symlink_metadata(path).at("look at", path)?;
            if found.is_dir() && found.uid() == account.uid() && found.mode().trailing_zeros() >= 6 {
                Ok(())
            } else {
                Err(Error::ForeignSocketDirectory(path.into()))
            }
        }
        Err(error) => Err(error).at("create", path),
    }
}

fn socket_directory(home: &Path, temporary: &Path) -> PathBuf {
    let inside = home.join("run");
    if inside.as_os_str().len() <= LONGEST_SOCKET_DIRECTORY {
        return inside;
    }
    let mut hasher = DefaultHasher::new();
    home.hash(&mut hasher);
    let name = format!("groundstate-{:012x}", hasher.finish() >> 16);
    let outside = temporary.join(&name);
    if outside.as_os_str().len() <= LONGEST_SOCKET_DIRECTORY { outside } else { Path::new("/tmp").join(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_data_directory_holds_its_socket() {
        assert_eq!(socket_directory(Path::new("/data/postgres"), Path::new("/tmp")), Path::new("/data/postgres/run"));
    }

    #[test]
    fn a_long_data_directory_has_its_socket_in_a_short_place() {
        let home = Path::new("/").join("long".repeat(30));
        let found = socket_directory(&home, Path::new("/tmp"));
        assert!(found.starts_with("/tmp") && found.as_os_str().len() <= LONGEST_SOCKET_DIRECTORY, "{found:?}");
        let very_long = Path::new("/").join("temporary".repeat(20));
        assert_eq!(socket_directory(&home, &very_long), found);
    }
}
