//! Which user PostgreSQL runs as: ourselves, or `postgres` when we are root, since PostgreSQL refuses root.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::error::PathContext;
use crate::{Error, Result};

const SERVER_USER: &str = "postgres";

pub fn runs_as_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Account {
    Ourselves,
    Other { uid: u32, gid: u32 },
}

impl Account {
    pub fn find() -> Result<Self> {
        if !runs_as_root() {
            return Ok(Self::Ourselves);
        }
        let (uid, gid) = id("-u").zip(id("-g")).ok_or(Error::NoAccount { user: SERVER_USER })?;
        Ok(Self::Other { uid, gid })
    }

    pub fn uid(&self) -> u32 {
        match self {
            Self::Ourselves => rustix::process::geteuid().as_raw(),
            Self::Other { uid, .. } => *uid,
        }
    }

    /// A command that runs as this user.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        if let Self::Other { uid, gid } = self {
            command.uid(*uid).gid(*gid);
        }
        command
    }

    pub fn own(&self, path: &Path) -> Result<()> {
        match self {
            Self::Ourselves => Ok(()),
            Self::Other { uid, gid } => chown(path, Some(*uid), Some(*gid)).at("give to user postgres:", path),
        }
    }

    /// Checks that this user can reach `directory`: PostgreSQL's own message names neither the user nor the place.
    pub fn can_reach(&self, directory: &Path) -> Result<()> {
        let Self::Other { uid, gid } = self else { return Ok(()) };
        for ancestor in directory.ancestors().skip(1) {
            let found = fs::metadata(ancestor).at("look at", ancestor)?;
            let pass = if found.uid() == *uid {
                0o100
            } else if found.gid() == *gid {
                0o010
            } else {
                0o001
            };
            if found.mode() & pass == 0 {
                let mode = found.mode() & 0o7777;
                return Err(Error::Unreachable { user: SERVER_USER.into(), directory: ancestor.into(), mode });
            }
        }
        Ok(())
    }
}

/// `id` instead of /etc/passwd: users may come from elsewhere (NSS).
fn id(flag: &str) -> Option<u32> {
    let output = Command::new("id").args([flag, SERVER_USER]).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
