//! The folder of a new workflow.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use domain::bad_input::BadInput;
use projects::library::workflows;

use crate::output::say;

/// Longest name of a workflow.
const LONGEST_NAME: usize = 64;

/// The folder of a workflow that is not there yet. `flag` gave the name.
pub fn free(flag: &str, name: &str, project: &Path) -> anyhow::Result<PathBuf> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(fits) {
        let message =
            format!("`{name}` is not a name: expected lower-case letters, digits and `_`, at most {LONGEST_NAME}");
        return Err(BadInput::one(flag, message).into());
    }
    let folder = project.join(workflows::FOLDER).join(name);
    if folder.symlink_metadata().is_ok() {
        return Err(BadInput::one(folder.display().to_string(), "exists already").into());
    }
    Ok(folder)
}

/// Writes the files, and says which.
pub fn write<'a>(folder: &Path, files: impl IntoIterator<Item = (&'a str, String)>) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        say!("{}", path.display());
    }
    Ok(())
}
