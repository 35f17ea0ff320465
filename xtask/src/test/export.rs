//! Do real trainers load what we export? The judge is shared/export-check, which lies beside the repository.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use super::{Outcome, build_groundstate, with_database};
use crate::hash::{self, Stamp};
use crate::process::{quiet, run, succeeds};
use crate::{install, places};

const CHECKER: &str = "../shared/export-check";

pub fn run_step() -> Result<Outcome> {
    let Ok(checker) = Path::new(CHECKER).canonicalize() else {
        ensure!(env::var_os("CI").is_none(), "{CHECKER} is missing, and CI must not do without");
        return Ok(Outcome::Skipped(format!("{CHECKER} is not there; it is no part of the repository")));
    };
    let home = set_up(&checker)?;
    let rows = places::target_dir().join("xtask/export-check.jsonl");
    fs::create_dir_all(places::target_dir().join("xtask"))?;
    generate(&rows)?;
    let mut check = Command::new(home.join("venv/bin/python"));
    check.arg(checker.join("check_export.py")).arg(&rows).arg("--no-trl").env("EXPORT_CHECK_HOME", &home);
    run(&mut check)?;
    Ok(Outcome::Passed)
}

fn generate(rows: &Path) -> Result<()> {
    install::postgres()?;
    let mut generate = Command::new(build_groundstate()?);
    generate.args(["generate", "--playbook", "retail_bank", "--n", "24", "--seed", "7", "--out"]).arg(rows);
    with_database(|url| run(generate.env("DATABASE_URL", url)))
}

/// Its environment, installed once for all clones; the directory that holds it.
fn set_up(checker: &Path) -> Result<PathBuf> {
    let home = places::cache_dir().join("export-check");
    let paths = ["setup.sh", "requirements-core.txt"].map(|name| checker.join(name).to_string_lossy().into_owned());
    let inputs = hash::of_files(&paths.each_ref().map(String::as_str), &[])?;
    let stamp = Stamp::new(home.join("installed"));
    if !stamp.is(&inputs) {
        install::programs(&["npm"], &["nodejs", "npm"])?;
        if !succeeds(Command::new("python3").args(["-c", "import ensurepip, venv"])) {
            install::packages(&["python3", "python3-venv"])?;
        }
        println!("==> installing the environment of export-check");
        fs::create_dir_all(&home)?;
        quiet(Command::new("bash").arg(checker.join("setup.sh")).arg(&home))?;
        stamp.set(&inputs)?;
    }
    Ok(home)
}
