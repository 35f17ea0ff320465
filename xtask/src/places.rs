//! Where things are. The current directory is always the root of the repository.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{StatVfs, StatVfsMountFlags, statvfs};

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

/// Where tests put what they remove again: in memory where there is room. Each of some five hundred tests makes a database of
/// a thousand files, and a journaling file system spends a fifth of the processor on that.
pub fn scratch_dir() -> PathBuf {
    const MEMORY: &str = "/dev/shm";
    const ROOM: u64 = 8 << 30;
    // Tests also start programs that they wrote there.
    let fits =
        |found: StatVfs| found.f_bavail * found.f_frsize >= ROOM && !found.f_flag.contains(StatVfsMountFlags::NOEXEC);
    if statvfs(MEMORY).is_ok_and(fits) { MEMORY.into() } else { env::temp_dir() }
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

/// The cargo that runs us, as if it were called from a shell. What it told us of our own package would go on to build
/// scripts: that of `ring` runs anew when it changes, and with it half of the server is compiled again.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    forget_package(&mut cargo);
    cargo
}

/// Tells a command nothing of our own package.
pub fn forget_package(command: &mut Command) {
    let ours = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(ours)) {
        command.env_remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_is_called_as_from_a_shell() {
        // Set by whoever runs this test.
        assert!(env::var_os("CARGO_MANIFEST_DIR").is_some());
        assert!(cargo().get_envs().any(|(name, value)| name == "CARGO_MANIFEST_DIR" && value.is_none()));
    }
}
