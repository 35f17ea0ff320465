//! Do real trainers load what we export? The judge is shared/export-check, which lies beside the repository; what it does
//! not look at, rows.py does.

mod model;

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail, ensure};
use serde_json::Value;

use super::{Outcome, groundstate_or_build, with_database};
use crate::process::{quiet, run};
use crate::{install, places, python};

const CHECKER: &str = "../shared/export-check";
const ROWS: &str = "xtask/src/test/export/rows.py";
/// Where the checker says what each of its checks gave.
const RESULTS: &str = "checked.json";
/// The package that holds them.
const TEMPLATES: &str = "xtask/src/test/export/templates.txt";
/// Those of the checker that leave reasoning where it is: the templates of GLM and `DeepSeek` take whatever stands in its tags out
/// of earlier turns, which is theirs to do.
const KEEPING: &str = "qwen2_5,qwen3,qwen3_training,qwen3_5_think,qwen3_8,llama3_1,gptoss,gemma4_v5,nemotron_3_nano,lfm2_2_5_v2,muse_glimmer";
/// Two playbooks whose tools have the same names, and arguments of other types.
const PROJECT: &str = "xtask/src/test/export/project";
/// Whose users may write what they like.
const PERSONAS: &str = "bench/workload";

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
    let groundstate = groundstate_or_build()?;
    with_database(|url| make(&Maker { groundstate: &groundstate, url, files: &files }))?;
    let home = set_up(&checker)?;
    let python = || Command::new(home.join("venv/bin/python"));
    println!("\n==> what export-check does not look at");
    let mut rows = python();
    // The checker's folder, whose projections are read, is not ours to write to.
    rows.arg("-B").arg(Path::new(ROWS).canonicalize()?).arg(&checker);
    run(rows.current_dir(&files))?;
    for checks in CHECKS {
        println!("\n==> export-check {}", checks.join(" "));
        let mut check = python();
        check.arg(checker.join("check_export.py")).args(checks).args(["--no-trl", "--json", RESULTS]);
        run(check.current_dir(&files).env("EXPORT_CHECK_HOME", &home))?;
        nothing_is_skipped(&files.join(RESULTS))?;
    }
    Ok(Outcome::Passed)
}

/// The checker passes though it could not do some of what it was to do.
fn nothing_is_skipped(results: &Path) -> Result<()> {
    let results: Vec<Value> = serde_json::from_slice(&fs::read(results)?)?;
    let mut skipped = results.iter().filter(|done| done["result"] == "SKIP");
    skipped.next().map_or(Ok(()), |done| bail!("export-check skipped {}: {}", done["check"], done["detail"]))
}

/// What is looked at together.
const CHECKS: [&[&str]; 20] = [
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
    // Two splits: what the card says of each must hold for its files.
    &["--hf-dir", "corpus-hub"],
    &["--hf-dir", "corpus-hub-parquet"],
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
    &[
        "odd.jsonl",
        "--target",
        "canonical",
        "--hf-dir",
        "odd-hub",
        "--parquet",
        "odd.parquet",
        "--rl",
        "odd-rl.parquet",
    ],
    &["odd-trl.jsonl", "--target", "trl", "--hf-dir", "odd-hub-parquet", "--rl", "odd-rl.jsonl"],
    // What the card says of columns follows the toggles.
    &["--hf-dir", "odd-hub-texts"],
    &["--hf-dir", "odd-hub-texts-parquet"],
    // What NeMo reads, with the loader that keeps values as they are.
    &["odd-nemo.jsonl", "--target", "trl"],
    &["odd-openai.jsonl", "--target", "openai"],
    &["odd-swift.jsonl", "--target", "canonical", "--templates", KEEPING],
    // Templates are rendered of whole conversations alone: rows.py makes one of each side of each pair.
    &["odd-pairs-trl-chosen.jsonl", "--target", "trl", "--dpo", "odd-pairs-trl.jsonl"],
    &["odd-pairs-trl-rejected.jsonl", "--target", "trl"],
    &["--dpo", "odd-pairs-inline.jsonl"],
    &["--dpo", "odd-pairs-drop.jsonl"],
    &["odd-pairs-openai-chosen.jsonl", "--target", "openai", "--dpo", "odd-pairs-openai.jsonl"],
    &["odd-pairs-openai-rejected.jsonl", "--target", "openai"],
];

/// Timeouts and errors between agents and tools.
const FAULTS: &str = "faults:\n- {kind: rate_limit, calls: [2]}\n- {kind: timeout, probability: 0.1}\n\
                      - {kind: server_error, probability: 0.1}\n";

/// Plays and exports.
struct Maker<'a> {
    groundstate: &'a Path,
    url: &'a str,
    files: &'a Path,
}

impl Maker<'_> {
    fn path(&self, name: &str) -> String {
        self.files.join(name).to_string_lossy().into_owned()
    }

    fn call(&self, flags: &[&str]) -> Result<()> {
        run(Command::new(self.groundstate).args(flags).env("DATABASE_URL", self.url))
    }

    fn generate(&self, out: &str, flags: &[&str]) -> Result<()> {
        self.call(&[&["generate", "--out", &self.path(out)], flags].concat())
    }

    /// Of what was played last.
    fn export(&self, profile: &str, name: &str, more: &[&str]) -> Result<()> {
        self.call(&[&["export", "--profile", profile, "--out", &self.path(name)], more].concat())
    }
}

/// Five runs: every scenario, with faults; agents that delegate; what trainers trip over; and models that are now good and
/// now not, of which one trips them over as well.
fn make(maker: &Maker<'_>) -> Result<()> {
    fs::write(maker.files.join("faults.yaml"), FAULTS)?;
    make_all(maker)?;
    make_team(maker)?;
    make_odd(maker)?;
    make_pairs(maker)?;
    make_odd_pairs(maker)
}

fn make_all(maker: &Maker<'_>) -> Result<()> {
    maker.generate("all.jsonl", &["--n", "144", "--seed", "7", "--faults", &maker.path("faults.yaml")])?;
    maker.export("huggingface", "all-hub", &[])?;
    maker.export("huggingface", "all-hub-parquet", &["--data", "parquet"])?;
    maker.export("json_strings", "all.parquet", &[])?;
    maker.export("verl", "all-rl.parquet", &[])?;
    maker.export("trl", "all-trl.jsonl", &[])?;
    maker.export("openai", "all-openai.jsonl", &[])?;
    // Templates that know the tags of reasoning take it out of earlier turns, which is theirs to do.
    maker.export("ms_swift", "all-swift.jsonl", &["--reasoning", "drop"])?;
    maker.export("ms_swift", "all-swift-inline.jsonl", &[])?;
    maker.export("llamafactory", "all-sharegpt.jsonl", &[])?;
    maker.call(&["corpora", "create", "halves"])?;
    for (name, data) in [("corpus-hub", "jsonl"), ("corpus-hub-parquet", "parquet")] {
        let out = maker.path(name);
        let flags = ["export", "--profile", "huggingface", "--corpus", "halves", "--data", data, "--out", &out];
        maker.call(&flags)?;
        for split in ["train", "golden"] {
            let file = Path::new(&out).join(format!("data/{split}.{data}"));
            ensure!(file.is_file(), "there is no {}", file.display());
        }
    }
    Ok(())
}

fn make_team(maker: &Maker<'_>) -> Result<()> {
    let team = ["--playbook", "retail_bank", "--variant", "orchestrator", "--branches", "--n", "24"];
    maker.generate("team.jsonl", &team)?;
    maker.export("huggingface", "team-hub", &["--branches"])?;
    maker.export("json_strings", "team.parquet", &["--branches", "--reasoning", "inline"])?;
    maker.export("verl", "team-rl.jsonl", &["--data", "jsonl"])
}

/// Every profile of rows gets all of it: parallel calls, unicode, errors, sub-agents, reasoning, long texts, and tools with
/// conflicting schemas. rows.py counts whether it is there.
fn make_odd(maker: &Maker<'_>) -> Result<()> {
    let project = maker.files.join("project");
    fs::create_dir(&project)?;
    for (from, folders) in [(PROJECT, ["playbooks", "scenarios"]), (PERSONAS, ["personas", "judges"])] {
        for folder in folders {
            symlink(Path::new(from).join(folder).canonicalize()?, project.join(folder))?;
        }
    }
    let (project, faults) = (maker.path("project"), maker.path("faults.yaml"));
    maker.generate("odd.jsonl", &["--project", &project, "--branches", "--n", "24", "--faults", &faults])?;
    let texts = ["--reasoning", "inline", "--arguments", "string", "--tools", "json"];
    let texts_in_columns = ["--reasoning", "drop", "--arguments", "string", "--tools", "json", "--data", "parquet"];
    let files: [(&str, &str, &[&str]); 16] = [
        ("huggingface", "odd-hub", &[]),
        ("huggingface", "odd-hub-parquet", &["--data", "parquet"]),
        ("huggingface", "odd-hub-texts", &texts),
        ("huggingface", "odd-hub-texts-parquet", &texts_in_columns),
        ("canonical", "odd-canonical.jsonl", &["--tools", "json"]),
        ("json_strings", "odd.parquet", &[]),
        ("json_strings", "odd-strings.jsonl", &["--data", "jsonl"]),
        ("trl", "odd-trl.jsonl", &[]),
        ("trl", "odd-nemo.jsonl", &["--tools", "array"]),
        ("openai", "odd-openai.jsonl", &[]),
        ("ms_swift", "odd-swift.jsonl", &[]),
        ("ms_swift", "odd-swift-drop.jsonl", &["--reasoning", "drop", "--arguments", "object"]),
        ("llamafactory", "odd-sharegpt.jsonl", &[]),
        ("llamafactory", "odd-sharegpt-drop.jsonl", &["--reasoning", "drop"]),
        ("verl", "odd-rl.parquet", &[]),
        ("verl", "odd-rl.jsonl", &["--data", "jsonl"]),
    ];
    files.iter().try_for_each(|(profile, name, more)| maker.export(profile, name, &[&["--branches"], *more].concat()))
}

fn make_pairs(maker: &Maker<'_>) -> Result<()> {
    let model = model::two_ways()?;
    maker.generate("two-ways.jsonl", &["--scenario", "help_card_abroad", "--n", "24", "--agent", &model])?;
    maker.export("trl_dpo", "pairs-trl.jsonl", &[])?;
    maker.export("openai_dpo", "pairs-openai.jsonl", &[])
}

/// Pairs of all that `make_odd` makes rows of, but for faults of the tools: two ways part only where all before is the same.
/// rows.py counts whether it is there.
fn make_odd_pairs(maker: &Maker<'_>) -> Result<()> {
    let (project, model) = (maker.path("project"), model::labels()?);
    let who = ["--agent", &model, "--sub-agent", "keeper=scripted"];
    maker.generate("odd-two-ways.jsonl", &[&["--project", &project, "--n", "36"][..], &who].concat())?;
    maker.export("trl_dpo", "odd-pairs-trl.jsonl", &[])?;
    maker.export("trl_dpo", "odd-pairs-inline.jsonl", &["--reasoning", "inline", "--tools", "array"])?;
    maker.export("trl_dpo", "odd-pairs-drop.jsonl", &["--reasoning", "drop"])?;
    maker.export("openai_dpo", "odd-pairs-openai.jsonl", &[])
}

/// Its environment, and the chat templates that it looks for in TRL; the directory that holds it.
fn set_up(checker: &Path) -> Result<PathBuf> {
    let paths = ["setup.sh", "requirements-core.txt"].map(|name| checker.join(name).to_string_lossy().into_owned());
    python::kept("export-check", &[&paths[0], &paths[1], TEMPLATES], |home, interpreter| {
        install::programs(&["npm"], &["nodejs", "npm"])?;
        // It takes the first `python3` of the path.
        let before = Path::new(interpreter).parent().filter(|folder| folder.is_absolute()).map(Path::to_owned);
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(before.into_iter().chain(env::split_paths(&path)))?;
        quiet(Command::new("bash").arg(checker.join("setup.sh")).arg(home).env("PATH", path))?;
        // The templates are files of the package: what it runs on, which is gigabytes, is not needed to read them.
        python::pip(&home.join("venv/bin"), &["install", "--quiet", "--no-deps", "-r", TEMPLATES])
    })
}
