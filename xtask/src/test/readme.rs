//! README.md as somebody new follows it, in a clone that has nothing but what is committed (`e2e/readme.mjs`).

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use anyhow::Result;

use super::{Outcome, e2e};
use crate::places;
use crate::process::{quiet, run};

pub(super) fn run_step() -> Result<Outcome> {
    if !places::root().join(".git").exists() {
        return Ok(Outcome::Skipped("this is no clone of a repository".into()));
    }
    let folder = places::target_dir().join("xtask/readme");
    let (clone, data) = (folder.join("clone"), tempfile::tempdir()?);
    // What a run before this one left is no part of a clone.
    if clone.exists() {
        fs::remove_dir_all(&clone)?;
    }
    fs::create_dir_all(&folder)?;
    quiet(Command::new("git").args(["clone", "--quiet", "."]).arg(&clone))?;
    // What one run compiles, the next one need not. It is not ours: cargo takes what two clones compiled in one directory for
    // the same, and the crates of one of them are not compiled again when they change.
    let target = folder.join("target");
    fs::create_dir_all(&target)?;
    symlink(target, clone.join("target"))?;
    let mut node = e2e::node()?;
    node.args(["--test", "--test-reporter=spec", "e2e/readme.mjs"]).env("README_CLONE", &clone);
    // As in a shell that nobody has set anything in, but for the data: those of this machine are not touched.
    places::forget_package(&mut node);
    for name in ["CARGO", "CARGO_TARGET_DIR", "DATABASE_URL"] {
        node.env_remove(name);
    }
    // Under root, PostgreSQL runs as another user.
    fs::set_permissions(data.path(), Permissions::from_mode(0o755))?;
    node.env("GROUNDSTATE_DATA", data.path());
    run(&mut node)?;
    fs::remove_dir_all(&clone)?;
    Ok(Outcome::Passed)
}
