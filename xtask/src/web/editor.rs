//! The code editor: the modules of web/editor and `CodeMirror`, bundled by esbuild to one.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::npm::npm;
use crate::places;
use crate::process::{quiet, run};

const EDITOR: &str = "web/editor";

/// The file with the module.
pub fn bundle() -> Result<PathBuf> {
    let module = places::target_dir().join("xtask/editor.js");
    if let Some(parent) = module.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut npm = npm(EDITOR)?;
    npm.args(["run", "build", "--"]).arg(format!("--outfile={}", module.display()));
    quiet(&mut npm).context("the code editor cannot be bundled")?;
    Ok(module)
}

/// What of it needs no browser: node's own test runner.
pub fn test() -> Result<()> {
    run(npm(EDITOR)?.args(["test", "--silent"]))
}
