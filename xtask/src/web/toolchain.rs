//! Which compiler makes WebAssembly. rustup's is wanted; it cannot be downloaded everywhere, and Debian has one.

use std::env;
use std::fmt;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Result, anyhow, ensure};

use crate::process::{quiet, succeeds};
use crate::{install, places};

pub const TARGET: &str = "wasm32-unknown-unknown";

const DEBIAN_PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld-19"];
/// Version 14, which is plain `lld` there, leaves out the segment of zeros that relocations point into.
const LINKER: &str = "wasm-ld-19";
/// The oldest minor version of Rust that compiles this workspace (`rust-version` in Cargo.toml).
const OLDEST: u32 = 95;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toolchain {
    /// The one that runs us, with the target installed.
    Own,
    /// Debian's, which has the sources of std instead of the target: std is built too.
    Debian,
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own => "rustup's toolchain",
            Self::Debian => "Debian's toolchain",
        })
    }
}

impl Toolchain {
    /// What is installed goes first, then what can be. `GROUNDSTATE_WASM=debian` skips rustup's. Chosen once: two downloads of
    /// the same target at once would spoil each other.
    pub fn choose() -> Result<Self> {
        static CHOSEN: OnceLock<Result<Toolchain, String>> = OnceLock::new();
        let chosen = CHOSEN.get_or_init(|| Self::find().map_err(|error| format!("{error:#}")));
        chosen.clone().map_err(|error| anyhow!(error))
    }

    fn find() -> Result<Self> {
        let own = env::var_os("GROUNDSTATE_WASM").is_none_or(|choice| choice != "debian");
        if own && target_is_installed()? {
            return Ok(Self::Own);
        }
        if debian_is_installed() {
            return Ok(Self::Debian);
        }
        if own && rustup_adds_target() && target_is_installed()? {
            return Ok(Self::Own);
        }
        install::packages(&DEBIAN_PACKAGES)?;
        ensure!(
            debian_is_installed(),
            "no Rust for {TARGET}: `rustup target add {TARGET}` did not succeed, and Debian's is older than 1.{OLDEST}; where the network allows it, run that command, and this one again"
        );
        Ok(Self::Debian)
    }

    pub fn cargo(self) -> Command {
        match self {
            Self::Own => places::cargo(),
            Self::Debian => Command::new("/usr/bin/cargo"),
        }
    }

    pub fn configure(self, cargo: &mut Command) {
        if self == Self::Own {
            return;
        }
        cargo.args(["-Z", "build-std=std,panic_abort"]);
        // rustup's shims go last, and what its cargo told us about itself is not handed on.
        let path = env::var("PATH").unwrap_or_default();
        cargo.env("PATH", format!("/usr/bin:{path}")).env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
        cargo.env("RUSTC", "/usr/bin/rustc").env("RUSTC_BOOTSTRAP", "1");
        cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", LINKER);
    }
}

fn target_is_installed() -> Result<bool> {
    let sysroot = quiet(Command::new("rustc").args(["--print", "sysroot"]))?;
    Ok(Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET).is_dir())
}

/// Without network it tries for long, hence the limit.
fn rustup_adds_target() -> bool {
    println!("==> rustup target add {TARGET}");
    succeeds(Command::new("timeout").args(["120", "rustup", "target", "add", TARGET]))
}

fn debian_is_installed() -> bool {
    let version = quiet(Command::new("/usr/bin/rustc").arg("--version")).unwrap_or_default();
    let minor = version.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok());
    let sources = quiet(Command::new("/usr/bin/rustc").args(["--print", "sysroot"]))
        .is_ok_and(|sysroot| Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/std").is_dir());
    minor.is_some_and(|minor| minor >= OLDEST) && sources && places::find_program(&[LINKER]).is_some()
}
