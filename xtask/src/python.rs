//! Python's programs that steps use, each in an environment of its own, and its package registry.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::hash::{self, Stamp};
use crate::process::{quiet, succeeds};
use crate::{install, places};

/// The registry of packages is not there: nothing that we could mend, and nothing that says a thing about us.
#[derive(Debug)]
pub struct Unreachable(String);

impl std::fmt::Display for Unreachable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "the package registry of Python cannot be reached: look at the network and at `pip config list`, and repeat\n{}",
            self.0
        )
    }
}

impl std::error::Error for Unreachable {}

/// An environment with what the file `requirements` names, installed once for all clones; the directory of its programs.
///
/// # Errors
/// [`Unreachable`], among others.
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
        pip(&home.join("venv/bin"), &["install", "--quiet", "-r", requirements])?;
        stamp.set(&wanted)?;
    }
    Ok(home.join("venv/bin"))
}

/// pip knows the index, the proxy and the certificates of this machine, which is why nothing else fetches.
///
/// # Errors
/// [`Unreachable`], among others.
pub fn pip(programs: &Path, arguments: &[&str]) -> Result<()> {
    let mut pip = Command::new(programs.join("pip"));
    quiet(pip.args(arguments)).map(drop).map_err(|error| {
        let said = format!("{error:#}");
        if is_network(&said) { Unreachable(said).into() } else { error }
    })
}

/// pip ends with the same code whatever is wrong, and says "no matching distribution" also when it could ask nobody. But
/// it has warned of each connection before.
fn is_network(said: &str) -> bool {
    let signs = ["after connection broken by", "Connection aborted", "Read timed out", "Max retries exceeded"];
    // What came in the end, and is not what was asked for, is no matter of the network.
    signs.iter().any(|sign| said.contains(sign)) && !said.contains("DO NOT MATCH THE HASHES")
}

#[cfg(test)]
mod tests {
    use super::is_network;

    #[test]
    fn a_registry_that_is_away_is_no_package_that_is_missing() {
        let missing = "ERROR: Could not find a version that satisfies the requirement x==1 (from versions: none)\n\
                       ERROR: No matching distribution found for x==1";
        assert!(!is_network(missing));
        let away = "WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError('...: \
                    Failed to establish a new connection: [Errno -2] Name or service not known')': /simple/x/";
        assert!(is_network(&format!("{away}\n{missing}")));
        let other = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.";
        assert!(!is_network(&format!("{away}\n{other}")));
    }
}
