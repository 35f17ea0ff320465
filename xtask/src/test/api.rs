//! Does the API keep what its document says? Asked by schemathesis, which makes requests up from the document, good ones
//! and bad ones: no answer may be a fault of ours, and none may be undocumented.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use super::{Outcome, build_groundstate, with_database};
use crate::groundstate::Groundstate;
use crate::process::{quiet, run};
use crate::{install, places, python, web};

const REQUIREMENTS: &str = "xtask/src/test/api-requirements.txt";
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
    fs::create_dir_all(&files)?;
    with_database(|url| {
        let groundstate = Groundstate { program, database: Some(url.to_owned()) };
        quiet(groundstate.command().args(["users", "create", "fuzzer", "--administrator"]))?;
        quiet(groundstate.command().args(["sync", "--push"]))?;
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
        // It answers for as long as a run is played.
        fuzz.args(["--exclude-path-regex", "/progress$"]);
        fuzz.arg("--header").arg(format!("Authorization: Bearer {token}"));
        run(fuzz.current_dir(&files).env("SCHEMATHESIS_HOOKS", hooks))
    })?;
    Ok(Outcome::Passed)
}
