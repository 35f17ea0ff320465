//! Python's programs that steps use, each in an environment of its own.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::hash::{self, Stamp};
use crate::process::{quiet, succeeds};
use crate::{install, places};

/// An environment with what the file `requirements` names, installed once for all clones; the directory of its programs.
pub fn environment(name: &str, requirements: &str) -> Result<PathBuf> {
    let home = places::cache_dir().join(name);
    let wanted = hash::of_files(&[requirements], &[])?;
    let stamp = Stamp::new(home.join("installed"));
    if !stamp.is(&wanted) {
        if !succeeds(Command::new("python3").args(["-c", "import ensurepip, venv"])) {
            install::packages(&["python3", "python3-venv"])?;
        }
        println!("==> installing {name}");
        fs::create_dir_all(&home)?;
        quiet(Command::new("python3").args(["-m", "venv"]).arg(home.join("venv")))?;
        quiet(Command::new(home.join("venv/bin/pip")).args(["install", "--quiet", "-r", requirements]))?;
        stamp.set(&wanted)?;
    }
    Ok(home.join("venv/bin"))
}
