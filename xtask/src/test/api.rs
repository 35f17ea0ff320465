//! Does the API keep what its document says? Asked by schemathesis, which makes requests up from the document, good ones
//! and bad ones: no answer may be a fault of ours, and none may be undocumented. Half of them are about what there is: a run
//! that was played, and one of everything around it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{Outcome, build_groundstate, with_database};
use crate::groundstate::Groundstate;
use crate::process::{quiet, run};
use crate::{install, places, python, web};

const REQUIREMENTS: &str = "xtask/src/test/api-requirements.txt";
/// The small playbook that authors begin with: what checks and plays it takes no time.
const PLAYBOOK: &str = "corner_shop";
/// What paths name of the things that there are, and what must have been shown of them.
const THINGS: [&str; 14] = [
    "run",
    "conversation",
    "judging",
    "queue",
    "calibration",
    "validation",
    "corpus",
    "export",
    "project",
    "progress",
    "model",
    "worker",
    "annotation",
    "user",
];
/// Operations that the administrator's token does not open: the hooks ask them as a worker and in a session, and each must
/// have let somebody in.
const OTHERWISE: [&str; 4] =
    ["POST /workers", "POST /workers/{worker}/heartbeat", "POST /tokens", "DELETE /tokens/{token}"];
/// What the document cannot say.
const HOOKS: &str = "xtask/src/test/api-hooks.py";
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";
/// Requests made up for each operation, beside those that the document's limits suggest.
const EXAMPLES: &str = "8";

pub fn run_step() -> Result<Outcome> {
    install::postgres()?;
    web::build()?;
    let program = build_groundstate()?;
    let programs = python::environment("schemathesis", REQUIREMENTS)?;
    let files = places::target_dir().join("xtask/api");
    if files.exists() {
        fs::remove_dir_all(&files)?;
    }
    fs::create_dir_all(&files)?;
    with_database(|url| {
        let groundstate = Groundstate { program, database: Some(url.to_owned()) };
        quiet(groundstate.command().args(["users", "create", "fuzzer", "--administrator"]))?;
        play(&groundstate, &files)?;
        let token = ["tokens", "create", "--user", "fuzzer", "--name", "fuzz", "--scope", "admin"];
        let said = quiet(groundstate.command().args(token))?;
        let token = said.split_whitespace().find(|word| word.starts_with("gs_")).context("no token was printed")?;
        // It would be busy with the runs that are made up: a hundred million conversations are a good order.
        let server =
            groundstate.serve(&["--no-play", "--listen", "127.0.0.1:0", "--files", &files.to_string_lossy()])?;
        let hooks = fs::canonicalize(HOOKS)?;
        let mut fuzz = Command::new(programs.join("schemathesis"));
        fuzz.arg("run").arg(format!("{}/api/v1/openapi.json", server.url));
        fuzz.args(["--checks", CHECKS, "--max-examples", EXAMPLES, "--seed", "1", "--no-color", "--workers", "1"]);
        fuzz.args(["--phases", "examples,coverage,fuzzing", "--generation-database", "none", "--warnings", "off"]);
        fuzz.args(["--suppress-health-check", "all", "--no-shrink", "--request-timeout", "30"]);
        fuzz.env("SCHEMATHESIS_HOOKS", hooks).env("GROUNDSTATE_API", format!("{}/api/v1", server.url));
        run(fuzz.current_dir(&files).env("GROUNDSTATE_TOKEN", token))?;
        check_shown(&files.join("shown.json"))
    })?;
    Ok(Outcome::Passed)
}

/// A project with a run of a few conversations, which no model was asked for.
fn play(groundstate: &Groundstate, files: &Path) -> Result<()> {
    quiet(groundstate.command().args(["playbook", "new", PLAYBOOK]).current_dir(files))?;
    quiet(groundstate.command().args(["sync", "--push"]).current_dir(files))?;
    let generate = ["generate", "--playbook", PLAYBOOK, "--n", "6", "--out", "rows.jsonl"];
    quiet(groundstate.command().args(generate).current_dir(files))?;
    Ok(())
}

/// What only ever asked for ids that are made up would find nothing, and would not say so.
fn check_shown(told: &Path) -> Result<()> {
    let shown: BTreeMap<String, u32> = serde_json::from_slice(&fs::read(told)?)?;
    println!("    shown of what there is: {shown:?}");
    let missed: Vec<_> = THINGS.iter().chain(&OTHERWISE).filter(|name| !shown.contains_key(**name)).collect();
    ensure!(missed.is_empty(), "nothing was shown of the {missed:?} that there is");
    Ok(())
}
