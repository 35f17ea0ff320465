//! Do trainers and agents really get along with our environments? Their own packages play: TRL trains, `OpenEnv`'s client and an MCP
//! client walk an episode, `vf-eval` evaluates, and one scenario is played in four ways with the same reward.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{Outcome, groundstate_or_build, with_database};
use crate::groundstate::Groundstate;
use crate::process::{quiet, run};
use crate::{install, places, python};

const FILES: &str = "xtask/src/test/trainers";
const PACKAGE: &str = "python";
/// The project with the shipped playbooks: one project has one model of personas.
const SHIPPED: &str = "bank";
/// A script, the environment that it needs, and what it is told beside address and token.
const CHECKS: [(&str, &str, &[&str]); 5] = [
    ("four_ways.py", "openenv", &[SHIPPED]),
    ("openenv_client.py", "openenv", &[]),
    ("mcp_client.py", "openenv", &[]),
    ("vf_eval.py", "verifiers", &[]),
    ("trl_grpo.py", "trl", &[]),
];

pub fn run_step() -> Result<Outcome> {
    let programs = match environments() {
        Ok(programs) => programs,
        Err(error) if error.is::<python::Unreachable>() => return Ok(loudly_skipped(&error)),
        Err(error) => return Err(error),
    };
    install::postgres()?;
    let program = groundstate_or_build()?;
    let files = places::target_dir().join("xtask/trainers");
    if files.exists() {
        fs::remove_dir_all(&files)?;
    }
    fs::create_dir_all(&files)?;
    with_database(|url| {
        let groundstate = Groundstate { program, database: Some(url.to_owned()) };
        let token = fill(&groundstate)?;
        let kept = files.join("files");
        let serve =
            ["--listen", "127.0.0.1:0", "--agent-urls", "http://127.0.0.1:", "--files", &kept.to_string_lossy()];
        let server = groundstate.serve(&serve)?;
        let python = |environment: &str| {
            let found = programs.iter().find(|(name, _)| *name == environment);
            let programs = &found.context("no such environment")?.1;
            let mut python = Command::new(programs.join("python"));
            // The package stands beside the scripts, and nothing of it is installed.
            python.arg("-B").current_dir(&files).env("PYTHONPATH", fs::canonicalize(PACKAGE)?);
            python.env("GROUNDSTATE_URL", &server.url).env("GROUNDSTATE_TOKEN", &token).env("PATH", in_front(programs));
            anyhow::Ok(python)
        };
        println!("\n==> the package in {PACKAGE}/");
        let tests = fs::canonicalize(Path::new(PACKAGE).join("tests"))?;
        run(python("openenv")?.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).arg(tests))?;
        for (script, environment, more) in CHECKS {
            println!("\n==> {script}");
            let script = fs::canonicalize(Path::new(FILES).join(script))?;
            run(python(environment)?.arg(script).args([&server.url, &token]).args(more))?;
        }
        println!("\n==> own_agent.py");
        let script = fs::canonicalize(Path::new(FILES).join("own_agent.py"))?;
        run(python("agents")?.arg(script).args([&server.url, &token]).arg(&groundstate.program))?;
        server.running.end().context("the server did not end")
    })?;
    Ok(Outcome::Passed)
}

/// The project of the scripts, another one with the shipped playbooks, and a token for both.
fn fill(groundstate: &Groundstate) -> Result<String> {
    quiet(groundstate.command().args(["users", "create", "trainer", "--administrator"]))?;
    quiet(groundstate.command().args(["projects", "create", SHIPPED, "--title", "Shipped"]))?;
    quiet(groundstate.command().args(["sync", "--push", "--to", SHIPPED]))?;
    quiet(groundstate.command().args(["sync", "--push", "--project", &format!("{FILES}/project")]))?;
    let token = ["tokens", "create", "--user", "trainer", "--name", "train", "--scope", "admin"];
    let said = quiet(groundstate.command().args(token))?;
    Ok(said.split_whitespace().find(|word| word.starts_with("gs_")).context("no token was printed")?.to_owned())
}

/// Each has packages that others cannot stand beside them.
fn environments() -> Result<Vec<(&'static str, PathBuf)>> {
    let of = |name: &'static str| {
        let requirements = format!("{FILES}/requirements-{name}.txt");
        Ok((name, python::environment(&format!("trainers-{name}"), &requirements)?))
    };
    ["trl", "openenv", "verifiers", "agents"].map(of).into_iter().collect()
}

fn in_front(programs: &Path) -> String {
    format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default())
}

fn loudly_skipped(error: &anyhow::Error) -> Outcome {
    let rule = "!".repeat(100);
    eprintln!("{rule}\nNOT TESTED: environments with the packages of trainers.\n{error:#}\n{rule}");
    Outcome::Skipped("NOT TESTED with the packages of trainers: the package registry cannot be reached".into())
}
