//! Where PostgreSQL's programs are: Debian keeps `initdb` and `postgres` out of PATH.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Error, Result};

const DEBIAN: &str = "/usr/lib/postgresql";

pub fn is_installed() -> bool {
    find(None).is_ok()
}

/// The directory with `initdb` and `postgres`; of exactly `version` (a major version) when data of it exist already.
pub fn find(version: Option<&str>) -> Result<PathBuf> {
    candidates()
        .into_iter()
        .filter(|directory| directory.join("initdb").is_file() && directory.join("postgres").is_file())
        .find(|directory| version.is_none_or(|version| major_version(directory).as_deref() == Some(version)))
        .ok_or_else(|| Error::NoBinaries { version: version.map(str::to_owned) })
}

/// A program of PostgreSQL's client, such as `pg_dump`: the newest that is found, since it must not be older than the server.
pub fn program(name: &str) -> PathBuf {
    let found = debian_newest_first().into_iter().chain(candidates()).map(|directory| directory.join(name));
    found.into_iter().find(|program| program.is_file()).unwrap_or_else(|| name.into())
}

fn candidates() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<PathBuf> = env::split_paths(&path).collect();
    found.extend(debian_newest_first());
    found.extend(bindir_of_pg_config());
    found
}

fn debian_newest_first() -> Vec<PathBuf> {
    let mut versions: Vec<u32> = fs::read_dir(DEBIAN)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    versions.iter().map(|version| Path::new(DEBIAN).join(version.to_string()).join("bin")).collect()
}

fn bindir_of_pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
}

/// `postgres (PostgreSQL) 15.18 (Debian ...)` -> `15`.
fn major_version(directory: &Path) -> Option<String> {
    let output = Command::new(directory.join("postgres")).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let version = text.split_whitespace().nth(2)?;
    Some(version.split(['.', 'b', 'r']).next()?.to_owned())
}
