//! Do real trainers load what we export? The judge is shared/export-check, which lies beside the repository.

mod model;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use super::{Outcome, build_groundstate, with_database};
use crate::process::{quiet, run};
use crate::{install, places, python};

const CHECKER: &str = "../shared/export-check";

pub fn run_step() -> Result<Outcome> {
    let Ok(checker) = Path::new(CHECKER).canonicalize() else {
        ensure!(env::var_os("CI").is_none(), "{CHECKER} is missing, and CI must not do without");
        return Ok(Outcome::Skipped(format!("{CHECKER} is not there; it is no part of the repository")));
    };
    let files = places::target_dir().join("xtask/export-check");
    if files.exists() {
        fs::remove_dir_all(&files)?;
    }
    fs::create_dir_all(&files)?;
    install::postgres()?;
    let groundstate = build_groundstate()?;
    with_database(|url| make(&groundstate, url, &files))?;
    let home = set_up(&checker)?;
    for checks in CHECKS {
        println!("\n==> export-check {}", checks.join(" "));
        let mut check = Command::new(home.join("venv/bin/python"));
        check.arg(checker.join("check_export.py")).args(checks).arg("--no-trl");
        run(check.current_dir(&files).env("EXPORT_CHECK_HOME", &home))?;
    }
    Ok(Outcome::Passed)
}

/// What is looked at together. Only trainers themselves read the profile `llamafactory`: it has tests of its own.
const CHECKS: [&[&str]; 5] = [
    &[
        "all.jsonl",
        "--target",
        "canonical",
        "--hf-dir",
        "all-hub",
        "--parquet",
        "all.parquet",
        "--rl",
        "all-rl.parquet",
        "--dpo",
        "pairs-trl.jsonl",
    ],
    &["all-trl.jsonl", "--target", "trl", "--hf-dir", "all-hub-parquet", "--dpo", "pairs-openai.jsonl"],
    &["all-openai.jsonl", "--target", "openai"],
    &["all-swift.jsonl", "--target", "canonical"],
    &[
        "team.jsonl",
        "--target",
        "canonical",
        "--hf-dir",
        "team-hub",
        "--parquet",
        "team.parquet",
        "--rl",
        "team-rl.jsonl",
    ],
];

/// Timeouts and errors between agents and tools.
const FAULTS: &str = "faults:\n- {kind: rate_limit, calls: [2]}\n- {kind: timeout, probability: 0.1}\n\
                      - {kind: server_error, probability: 0.1}\n";

/// Three runs: every scenario, with faults; agents that delegate; and a model that is now good and now not.
fn make(groundstate: &Path, url: &str, files: &Path) -> Result<()> {
    let call = |flags: &[&str]| run(Command::new(groundstate).args(flags).env("DATABASE_URL", url));
    let path = |name: &str| files.join(name).to_string_lossy().into_owned();
    let export = |profile: &str, name: &str, more: &[&str]| {
        call(&[&["export", "--profile", profile, "--out", &path(name)], more].concat())
    };
    fs::write(files.join("faults.yaml"), FAULTS)?;
    call(&["generate", "--n", "144", "--seed", "7", "--faults", &path("faults.yaml"), "--out", &path("all.jsonl")])?;
    export("huggingface", "all-hub", &[])?;
    export("huggingface", "all-hub-parquet", &["--data", "parquet"])?;
    export("json_strings", "all.parquet", &[])?;
    export("verl", "all-rl.parquet", &[])?;
    export("trl", "all-trl.jsonl", &[])?;
    export("openai", "all-openai.jsonl", &[])?;
    // Templates that know the tags of reasoning take it out of earlier turns, which is theirs to do.
    export("ms_swift", "all-swift.jsonl", &["--reasoning", "drop"])?;
    export("llamafactory", "all-sharegpt.jsonl", &[])?;

    let team = ["generate", "--playbook", "retail_bank", "--variant", "orchestrator", "--branches", "--n", "24"];
    call(&[&team[..], &["--out", &path("team.jsonl")]].concat())?;
    export("huggingface", "team-hub", &["--branches"])?;
    export("json_strings", "team.parquet", &["--branches", "--reasoning", "inline"])?;
    export("verl", "team-rl.jsonl", &["--data", "jsonl"])?;

    let model = model::start()?;
    let scenario = ["generate", "--scenario", "help_card_abroad", "--n", "24", "--agent", &model];
    call(&[&scenario[..], &["--out", &path("two-ways.jsonl")]].concat())?;
    export("trl_dpo", "pairs-trl.jsonl", &[])?;
    export("openai_dpo", "pairs-openai.jsonl", &[])
}

/// Its environment; the directory that holds it.
fn set_up(checker: &Path) -> Result<PathBuf> {
    let paths = ["setup.sh", "requirements-core.txt"].map(|name| checker.join(name).to_string_lossy().into_owned());
    python::kept("export-check", &paths.each_ref().map(String::as_str), |home, interpreter| {
        install::programs(&["npm"], &["nodejs", "npm"])?;
        // It takes the first `python3` of the path.
        let before = Path::new(interpreter).parent().filter(|folder| folder.is_absolute()).map(Path::to_owned);
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(before.into_iter().chain(env::split_paths(&path)))?;
        quiet(Command::new("bash").arg(checker.join("setup.sh")).arg(home).env("PATH", path)).map(drop)
    })
}
