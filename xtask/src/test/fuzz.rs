//! Fuzzing of all that reads what others write, by libFuzzer, for a bounded time. What it finds is kept as a file and fails
//! the step; a file under fuzz/regressions is run first, each time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Outcome;
use crate::places::{cargo, root, target_dir};
use crate::process::run;
use crate::{hash, install};

/// One program each, in fuzz/src/bin.
const TARGETS: [&str; 4] = ["documents", "conversation", "interface", "archive"];
/// Where documents are that the fuzzer begins with.
const DOCUMENTS: [&str; 5] =
    ["playbooks/crm_assistant", "scenarios/crm_assistant", "workflows/factool", "personas", "judges"];
/// How long each target is fuzzed, in seconds.
const SECONDS: u32 = 20;
/// As in the sandbox: seconds on the clock and MiB. What the fuzzer itself keeps comes on top.
const LIMITS: [&str; 3] = ["-timeout=45", "-malloc_limit_mb=1024", "-rss_limit_mb=2048"];
/// Longest input, in bytes. The longest shipped document has half as many.
const LONGEST: u32 = 65_536;
pub fn run_step() -> Result<Outcome> {
    install::programs(&["c++"], &["g++"])?;
    let programs = build()?;
    for target in TARGETS {
        fuzz(target, &programs.join(target))?;
    }
    Ok(Outcome::Passed)
}

/// The folder of the programs. Only the crates of this workspace are compiled for it, with counters; the others are those
/// that the tests use.
fn build() -> Result<PathBuf> {
    let mut build = cargo();
    // Of the whole workspace, as for the tests: otherwise the features of what it uses are others.
    build.args(["build", "--quiet", "--workspace", "--manifest-path", "fuzz/Cargo.toml"]);
    build.args(["--features", "libfuzzer-sys"]);
    build.args(TARGETS.iter().flat_map(|target| ["--bin", target]));
    build.env("RUSTC_WORKSPACE_WRAPPER", root().join("fuzz/with_counters")).env("SQLX_OFFLINE", "true");
    run(&mut build)?;
    Ok(target_dir().join("debug"))
}

fn fuzz(target: &str, program: &Path) -> Result<()> {
    let of_target = target_dir().join("fuzz/found").join(target);
    let (corpus, seeds, failures) = (of_target.join("corpus"), of_target.join("seeds"), of_target.join("failures/"));
    for folder in [&corpus, &seeds, &failures] {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    if target == "documents" {
        write_documents(&seeds)?;
    }
    let kept = |kind: &str| Some(PathBuf::from(format!("fuzz/{kind}/{target}"))).filter(|folder| folder.is_dir());
    if let Some(known) = kept("regressions") {
        run(Command::new(program).args(LIMITS).args(files_of(&known)?))?;
    }
    println!("==> fuzzing {target} for {SECONDS} s");
    let mut fuzzing = Command::new(program);
    // The same seed, so that two runs of one commit look in the same places.
    fuzzing.args(LIMITS).args(["-seed=1", "-verbosity=0", "-print_final_stats=1", "-use_value_profile=1"]);
    fuzzing.arg(format!("-max_total_time={SECONDS}")).arg(format!("-max_len={LONGEST}"));
    fuzzing.arg(format!("-artifact_prefix={}", failures.display()));
    fuzzing.arg(&corpus).arg(&seeds).args(kept("seeds"));
    if run(&mut fuzzing).is_err() {
        bail!(
            "an input ends `{target}`, or takes it longer or more memory than the sandbox allows; it is in {}. Repeat with\n  \
             {} FILE\nand put it into fuzz/regressions/{target} when it is mended",
            failures.display(),
            program.display()
        );
    }
    Ok(())
}

/// Each as the target reads it: its path in the first line.
fn write_documents(seeds: &Path) -> Result<()> {
    for path in DOCUMENTS.iter().map(|folder| files_of(Path::new(folder))).collect::<Result<Vec<_>>>()?.concat() {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let seed = format!("{}\n{text}", path.display());
        fs::write(seeds.join(hash::of_bytes(seed.as_bytes())), seed)?;
    }
    Ok(())
}

fn files_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_of(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
