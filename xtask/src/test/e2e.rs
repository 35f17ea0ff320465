//! The web app in a real browser: node's own test runner and playwright-core, which drives the system's Chromium. The
//! tests bring databases of their own.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::{Outcome, build_groundstate};
use crate::npm::npm;
use crate::places::{self, find_program};
use crate::process::run;
use crate::{install, web};

/// The first one is the same Chromium without the parts that no test sees: a fifth less processor time.
const BROWSERS: [&str; 4] = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/// Files that run at a time, each with a server and a browser of its own. One waits for its pages half of the time; two
/// need a third less time on two cores, and more would only be slower one by one.
const AT_ONCE: usize = 2;

pub(super) fn run_step() -> Result<Outcome> {
    let tests = tests()?;
    if tests.is_empty() {
        return Ok(Outcome::Skipped("e2e/ holds no *.test.mjs".into()));
    }
    let mut node = node()?;
    node.args(["--test", "--test-reporter=spec", &format!("--test-concurrency={AT_ONCE}")]).args(tests);
    node.env("TMPDIR", places::scratch_dir());
    run(node.env("GROUNDSTATE_BIN", build_groundstate()?))?;
    Ok(Outcome::Passed)
}

/// Takes the picture of README.md.
pub fn picture() -> Result<()> {
    run(node()?.arg("e2e/picture.mjs").env("GROUNDSTATE_BIN", build_groundstate()?))
}

/// What runs scripts of e2e/, with all they need but the program. It builds the web app.
pub fn node() -> Result<Command> {
    if find_program(&BROWSERS).is_none() {
        // Not every release of Debian and Ubuntu has the first one.
        install::packages(&["chromium-headless-shell"]).or_else(|_| install::packages(&["chromium"]))?;
    }
    let browser = find_program(&BROWSERS).context("no Chromium in PATH")?;
    install::programs(&["curl"], &["curl"])?;
    install::postgres()?;
    npm("e2e")?;
    web::build()?;
    let mut node = Command::new("node");
    node.env("WEB_DIST", web::DIST).env("CHROMIUM", browser);
    Ok(node)
}

fn tests() -> Result<Vec<String>> {
    if !Path::new("e2e").is_dir() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for entry in fs::read_dir("e2e")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        // Named from the root, which is the project that the program plays.
        names.extend(name.ends_with(".test.mjs").then(|| format!("e2e/{name}")));
    }
    names.sort();
    Ok(names)
}
