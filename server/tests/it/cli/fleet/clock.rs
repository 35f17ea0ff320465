//! Processes whose clocks are wrong.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Built by the compiler that also links Rust's programs; a file that somebody has loaded is not written again.
static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cli/fleet/clock.c");
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("clock-{}.so", std::process::id()));
    let mut cc = Command::new("cc");
    assert!(cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&built).arg(source).status().unwrap().success());
    built
});

/// What is preloaded.
pub fn preload() -> &'static Path {
    &BUILT
}
