//! Python's programs that steps use, each in an environment of its own, and its package registry.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::hash::{self, Stamp};
use crate::process::{quiet_within, succeeds};
use crate::{install, places};

/// What every program loads, and an interpreter lacks whose compiled modules are not where it looks for them.
const MODULES: &str = "import ctypes, hashlib, math, select, ssl, zlib";
/// The first that is whole is taken: what stands first in the path may be somebody's half of an interpreter.
const INTERPRETERS: [&str; 2] = ["python3", "/usr/bin/python3"];

/// How long packages may take to come. Some have gigabytes.
const INSTALLATION: Duration = Duration::from_mins(45);

/// The registry of packages is not there: nothing that we could mend, and nothing that says a thing about us.
#[derive(Debug, thiserror::Error)]
#[error(
    "the package registry of Python cannot be reached: look at the network and at `pip config list`, and repeat\n{0}"
)]
pub struct Unreachable(String);

/// An environment with what the file `requirements` names; the directory of its programs.
///
/// # Errors
/// [`Unreachable`], among others.
pub fn environment(name: &str, requirements: &str) -> Result<PathBuf> {
    let home = kept(name, &[requirements], |home, interpreter| {
        venv(interpreter, home)?;
        pip(&home.join("venv/bin"), &["install", "--quiet", "-r", requirements])
    })?;
    Ok(home.join("venv/bin"))
}

/// Makes an empty environment in the folder `venv` of a directory.
pub fn venv(interpreter: &str, home: &Path) -> Result<()> {
    quiet_within(INSTALLATION, Command::new(interpreter).args(["-m", "venv"]).arg(home.join("venv"))).map(drop)
}

/// A directory with an environment in its folder `venv`, installed once for all clones as long as the files `inputs` stay
/// the same. One whose interpreter has gone, or is no longer whole, is installed anew.
///
/// # Errors
/// What `install` says; an environment that does not work.
pub fn kept(name: &str, inputs: &[&str], install: impl FnOnce(&Path, &'static str) -> Result<()>) -> Result<PathBuf> {
    let home = places::cache_dir().join(name);
    let wanted = hash::of_files(inputs, &[])?;
    let (stamp, venv) = (Stamp::new(home.join("installed")), home.join("venv"));
    let python = venv.join("bin/python");
    if stamp.is(&wanted) && is_whole(&python, MODULES) {
        return Ok(home);
    }
    println!("==> installing {name}");
    if venv.exists() {
        fs::remove_dir_all(&venv)?;
    }
    fs::create_dir_all(&home)?;
    install(&home, interpreter()?)?;
    ensure!(is_whole(&python, MODULES), "{} does not work: `{MODULES}` fails", python.display());
    stamp.set(&wanted)?;
    Ok(home)
}

fn interpreter() -> Result<&'static str> {
    let find = || {
        let modules = format!("{MODULES}, ensurepip, venv");
        INTERPRETERS.into_iter().find(|program| is_whole(Path::new(program), &modules))
    };
    if let Some(found) = find() {
        return Ok(found);
    }
    install::packages(&["python3", "python3-venv"])?;
    find().with_context(|| format!("no python3 on this machine can `{MODULES}`"))
}

fn is_whole(interpreter: &Path, modules: &str) -> bool {
    succeeds(Command::new(interpreter).args(["-c", modules]))
}

/// pip knows the index, the proxy and the certificates of this machine, which is why nothing else fetches.
///
/// # Errors
/// [`Unreachable`], among others.
pub fn pip(programs: &Path, arguments: &[&str]) -> Result<()> {
    let mut pip = Command::new(programs.join("pip"));
    quiet_within(INSTALLATION, pip.args(arguments)).map(drop).map_err(|error| {
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
