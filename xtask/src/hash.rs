//! Hashes by which steps see that nothing has changed since they last ran.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub fn of_bytes(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Of the names and contents of all files in `paths`, files or directories, and of `words`.
pub fn of_files(paths: &[&str], words: &[&str]) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    let mut files = Vec::new();
    for path in paths {
        collect(Path::new(path), &mut files)?;
    }
    files.sort();
    for file in files {
        file.hash(&mut hasher);
        fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// What does not exist counts as empty. Build outputs (`web/dist` and what becomes it) are no inputs, nor is what npm
/// installs: its lock file says the same.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_file() {
        files.push(path.to_owned());
    } else if path.is_dir() && path.file_stem().is_none_or(|stem| stem != "dist" && stem != "node_modules") {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    }
    Ok(())
}

/// A file that says for which inputs a step was done.
pub struct Stamp(PathBuf);

impl Stamp {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    pub fn is(&self, hash: &str) -> bool {
        fs::read_to_string(&self.0).is_ok_and(|found| found == hash)
    }

    pub fn set(&self, hash: &str) -> Result<()> {
        if let Some(parent) = self.0.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&self.0, hash).with_context(|| format!("cannot write {}", self.0.display()))
    }
}
