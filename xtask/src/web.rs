//! Builds the web app: crate `web` to WebAssembly, its JavaScript glue, the code editor, and names that hold the contents'
//! hash.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::hash::{self, Stamp};
use crate::places;
use crate::process::run;

mod bundle;
mod chunks;
mod editor;
mod toolchain;

pub use editor::test as test_editor;
use toolchain::Toolchain;

pub const DIST: &str = "web/dist";
/// `web` holds the editor, too.
const INPUTS: [&str; 9] = [
    "web",
    "crates/data-pages",
    "crates/ui",
    "crates/domain",
    "crates/no-openapi",
    "Cargo.toml",
    "Cargo.lock",
    "xtask/src/web.rs",
    "xtask/src/web",
];

#[derive(clap::Args)]
pub struct Web {
    /// Compile fast rather than small: for work on the pages
    #[arg(long)]
    dev: bool,
}

impl Web {
    pub fn run(&self) -> Result<()> {
        build_as(if self.dev { Build::Fast } else { Build::Small })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Build {
    /// As people get it.
    Small,
    /// In little time, and in less the next time.
    Fast,
    /// In little time, by whoever needs it once: nothing is kept for compiling it again.
    FastOnce,
}

impl Build {
    /// Of Cargo.toml.
    const fn profile(self) -> &'static str {
        match self {
            Self::Small => "web",
            Self::Fast | Self::FastOnce => "web-dev",
        }
    }
}

/// Does nothing when nothing has changed.
pub fn build() -> Result<()> {
    build_as(Build::Small)
}

/// The app by whatever profile is there, or by the one that takes little time.
pub fn build_fast_once() -> Result<()> {
    if changed(Build::Small)?.is_none() { Ok(()) } else { build_as(Build::FastOnce) }
}

fn build_as(build: Build) -> Result<()> {
    let Some(inputs) = changed(build)? else {
        println!("==> the web app is current");
        return Ok(());
    };
    let toolchain = Toolchain::choose()?;
    println!("==> building the web app ({toolchain})");
    // First, because it mostly waits for the network: in the demo, the program is compiled meanwhile.
    let editor = editor::bundle()?;
    let wasm = compile(toolchain, build)?;
    bundle::write(&wasm, &editor, Path::new(DIST))?;
    stamp().set(&inputs)
}

/// What takes long, so that `build` has little left to do.
pub fn compile_ahead() -> Result<()> {
    match changed(Build::Small)? {
        Some(_) => compile(Toolchain::choose()?, Build::Small).map(drop),
        None => Ok(()),
    }
}

/// The hash of what the app is built from, if it is not the one of the app that is there.
fn changed(build: Build) -> Result<Option<String>> {
    let inputs = format!("{} {}", hash::of_files(&INPUTS, &[])?, build.profile());
    Ok((!stamp().is(&inputs)).then_some(inputs))
}

/// A dotfile: the server does not embed it.
fn stamp() -> Stamp {
    Stamp::new(format!("{DIST}/.inputs"))
}

/// In a target directory of its own: the toolchains differ, and an editor's build would wait for the lock.
fn compile(toolchain: Toolchain, build: Build) -> Result<PathBuf> {
    let target_dir = places::target_dir().join("wasm");
    let mut cargo = toolchain.cargo();
    cargo.args(["rustc", "--quiet", "--package", "web", "--profile", build.profile(), "--target", toolchain::TARGET]);
    cargo.arg("--target-dir").arg(&target_dir);
    // Leptos then gives all views one type: less to compile, and a smaller app.
    cargo.env("RUSTFLAGS", "--cfg erase_components");
    if build == Build::FastOnce {
        cargo.env("CARGO_INCREMENTAL", "0");
        // Many units are for compiling parts again.
        for setting in ["CODEGEN_UNITS", "BUILD_OVERRIDE_CODEGEN_UNITS"] {
            cargo.env(format!("CARGO_PROFILE_WEB_DEV_{setting}"), "4");
        }
    }
    toolchain.configure(&mut cargo);
    // The linker keeps what it knew, by which the app is split.
    cargo.args(["--", "-C", "link-args=--emit-relocs"]);
    run(&mut cargo).context("the web app does not compile")?;
    Ok(target_dir.join(toolchain::TARGET).join(build.profile()).join("web.wasm"))
}
