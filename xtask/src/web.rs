//! Builds the web app: crate `web` to WebAssembly, its JavaScript glue, the code editor, and names that hold the contents'
//! hash.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::hash::{self, Stamp};
use crate::places;
use crate::process::run;

mod bundle;
mod editor;
mod toolchain;

pub use editor::test as test_editor;
use toolchain::Toolchain;

pub const DIST: &str = "web/dist";
/// `web` holds the editor, too.
const INPUTS: [&str; 6] = ["web", "domain", "Cargo.toml", "Cargo.lock", "xtask/src/web.rs", "xtask/src/web"];

/// Does nothing when nothing has changed.
pub fn build() -> Result<()> {
    let inputs = hash::of_files(&INPUTS, &[])?;
    // A dotfile: the server does not embed it.
    let stamp = Stamp::new(format!("{DIST}/.inputs"));
    if stamp.is(&inputs) {
        println!("==> the web app is current");
        return Ok(());
    }
    let toolchain = Toolchain::choose()?;
    println!("==> building the web app ({toolchain})");
    let target_dir = places::target_dir().join("wasm");
    run(&mut compile(toolchain, &target_dir)).context("the web app does not compile")?;
    let wasm = target_dir.join("wasm32-unknown-unknown/web/web.wasm");
    let editor = editor::bundle()?;
    bundle::write(&wasm, &editor, Path::new(DIST))?;
    stamp.set(&inputs)
}

/// In a target directory of its own: the toolchains differ, and an editor's build would wait for the lock.
fn compile(toolchain: Toolchain, target_dir: &Path) -> Command {
    let mut cargo = toolchain.cargo();
    cargo.args(["build", "--quiet", "--package", "web", "--profile", "web", "--target", toolchain::TARGET]);
    cargo.arg("--target-dir").arg(target_dir);
    toolchain.configure(&mut cargo);
    cargo
}
