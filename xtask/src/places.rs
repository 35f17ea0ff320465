//! Where things are. The current directory is always the root of the repository.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Asked of the cargo that runs us rather than of the one that compiled us: clones may share a target directory.
pub fn root() -> PathBuf {
    let xtask = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&xtask).parent().map_or_else(|| ".".into(), Path::to_owned)
}

/// Absolute, since children run elsewhere.
pub fn target_dir() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// For tools that are installed once and for all clones of the repository.
pub fn cache_dir() -> PathBuf {
    let home = || env::home_dir().unwrap_or_default().join(".cache");
    env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from).join("groundstate")
}

/// The program `groundstate` as `cargo build` with `profile` leaves it.
pub fn groundstate(profile: &str) -> PathBuf {
    target_dir().join(profile).join("groundstate")
}

/// The first of `names` that PATH has.
pub fn find_program(names: &[impl AsRef<OsStr>]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let found = |name: &OsStr| env::split_paths(&path).map(|dir| dir.join(name)).find(|program| program.is_file());
    names.iter().find_map(|name| found(name.as_ref()))
}

/// The cargo that runs us.
pub fn cargo() -> std::process::Command {
    std::process::Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}
