//! Packages of npm, as a package-lock.json names them.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::hash::{self, Stamp};
use crate::install;
use crate::process::quiet;

/// `npm` in a directory that has its packages. They are installed again only when the lock file has changed.
pub fn npm(directory: &str) -> Result<Command> {
    install::programs(&["node", "npm"], &["nodejs", "npm"])?;
    let files = ["package.json", "package-lock.json"].map(|name| format!("{directory}/{name}"));
    let wanted = hash::of_files(&files.each_ref().map(String::as_str), &[])?;
    let stamp = Stamp::new(Path::new(directory).join("node_modules/.installed"));
    if !stamp.is(&wanted) {
        // Packages come to be used, not to run scripts of theirs.
        quiet(command(directory).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]))?;
        stamp.set(&wanted)?;
    }
    Ok(command(directory))
}

fn command(directory: &str) -> Command {
    let mut npm = Command::new("npm");
    npm.current_dir(directory);
    npm
}
