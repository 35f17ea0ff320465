//! Does the API keep what its document says? Asked by schemathesis, which makes requests up from the document, good ones
//! and bad ones: no answer may be a fault of ours, and none may be undocumented.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::{Outcome, build_groundstate, with_database};
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
        let groundstate = || {
            let mut command = Command::new(&program);
            command.env("DATABASE_URL", url);
            command
        };
        quiet(groundstate().args(["users", "create", "fuzzer", "--administrator"]))?;
        quiet(groundstate().args(["sync", "--push"]))?;
        let token = ["tokens", "create", "--user", "fuzzer", "--name", "fuzz", "--scope", "admin"];
        let said = quiet(groundstate().args(token))?;
        let token = said.split_whitespace().find(|word| word.starts_with("gs_")).context("no token was printed")?;
        let mut serve = groundstate();
        // It would be busy with the runs that are made up: a hundred million conversations are a good order.
        serve.args(["serve", "--no-play", "--listen", "127.0.0.1:0", "--files"]).arg(&files);
        let server = Server::start(serve)?;
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

/// A server that ends with us.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(mut command: Command) -> Result<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let said = BufReader::new(child.stdout.take().context("no output")?);
        let mut lines = said.lines();
        let first = lines.next().context("the server said nothing")??;
        let url = first.split_whitespace().last().unwrap_or_default().to_owned();
        ensure!(url.starts_with("http://"), "the server said: {first}");
        // It must not be kept waiting by a pipe that nobody reads.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Self { child, url })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It fails only if the server has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
