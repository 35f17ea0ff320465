//! Do trainers and agents really get along with our environments and exports? Their own packages play: TRL trains, `OpenEnv`'s client
//! and an MCP client walk an episode, `vf-eval` evaluates, and one scenario is played in four ways with the same reward. They also load
//! what is exported of groups, and we read the graphs that LangGraph writes.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{Outcome, groundstate_or_build, with_database};
use crate::groundstate::Groundstate;
use crate::process::{quiet, run};
use crate::{install, places, python};

const FILES: &str = "xtask/src/test/trainers";
/// The project of the scripts.
pub const PROJECT: &str = "xtask/src/test/trainers/project";
const PACKAGE: &str = "python";
/// The project with the shipped playbooks: one project has one model of personas.
const SHIPPED: &str = "bank";
/// A script, the environment that it needs, and what it is told beside address and token.
const CHECKS: [(&str, &str, &[&str]); 10] = [
    ("four_ways.py", "openenv", &[SHIPPED]),
    ("openenv_client.py", "openenv", &[]),
    ("mcp_client.py", "openenv", &[]),
    ("vf_eval.py", "verifiers", &[]),
    ("trl_grpo.py", "trl", &[]),
    // Writes the files that the others load.
    ("export_groups.py", "openenv", &[]),
    ("load_verifiers.py", "verifiers", &[]),
    ("load_art.py", "art", &[]),
    ("load_trl.py", "trl", &[]),
    ("load_verl.py", "verl", &[]),
];

pub fn run_step() -> Result<Outcome> {
    let environments = match environments() {
        Ok(environments) => environments,
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
            let found = environments.iter().find(|found| found.name == environment);
            let mut python = found.context("no such environment")?.python()?;
            python.current_dir(&files).env("GROUNDSTATE_URL", &server.url).env("GROUNDSTATE_TOKEN", &token);
            anyhow::Ok(python)
        };
        println!("\n==> the package in {PACKAGE}/");
        let tests = fs::canonicalize(Path::new(PACKAGE).join("tests"))?;
        run(python("openenv")?.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).arg(tests))?;
        for (name, environment, more) in CHECKS {
            println!("\n==> {name}");
            run(python(environment)?.arg(script(name)?).args([&server.url, &token]).args(more))?;
        }
        println!("\n==> langgraph_graphs.py");
        run(python("agents")?.arg(script("langgraph_graphs.py")?).arg(&groundstate.program))?;
        println!("\n==> own_agent.py");
        run(python("agents")?.arg(script("own_agent.py")?).args([&server.url, &token]).arg(&groundstate.program))?;
        server.running.end().context("the server did not end")
    })?;
    Ok(Outcome::Passed)
}

/// The project of the scripts, another one with the shipped playbooks, and a token for both.
fn fill(groundstate: &Groundstate) -> Result<String> {
    quiet(groundstate.command().args(["projects", "create", SHIPPED, "--title", "Shipped"]))?;
    quiet(groundstate.command().args(["sync", "--push", "--to", SHIPPED]))?;
    quiet(groundstate.command().args(["sync", "--push", "--project", PROJECT]))?;
    token(groundstate)
}

/// Of a user who may do everything.
pub fn token(groundstate: &Groundstate) -> Result<String> {
    quiet(groundstate.command().args(["users", "create", "trainer", "--administrator"]))?;
    let token = ["tokens", "create", "--user", "trainer", "--name", "train", "--scope", "admin"];
    let said = quiet(groundstate.command().args(token))?;
    Ok(said.split_whitespace().find(|word| word.starts_with("gs_")).context("no token was printed")?.to_owned())
}

/// An environment with packages that others cannot stand beside them.
pub struct Environment {
    name: &'static str,
    programs: PathBuf,
    /// Folders with more packages, those of `python/` among them: nothing of it is installed.
    packages: Vec<PathBuf>,
}

impl Environment {
    /// # Errors
    /// [`python::Unreachable`], among others.
    pub fn get(name: &'static str) -> Result<Self> {
        let programs = python::environment(&format!("trainers-{name}"), &requirements(name))?;
        Ok(Self { name, programs, packages: vec![fs::canonicalize(PACKAGE)?] })
    }

    /// Beside `trl`, whose packages it needs: another copy of torch would be gigabytes.
    fn verl(trl: &Self) -> Result<Self> {
        let requirements = requirements("verl");
        let home = python::kept("trainers-verl", &[&requirements], |home, interpreter| {
            quiet(Command::new(interpreter).args(["-m", "venv"]).arg(home.join("venv")))?;
            python::pip(&home.join("venv/bin"), &["install", "--quiet", "--no-deps", "-r", &requirements])
        })?;
        let packages = ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"];
        let packages = quiet(Command::new(trl.programs.join("python")).args(packages))?;
        let packages = vec![fs::canonicalize(PACKAGE)?, PathBuf::from(packages.trim())];
        Ok(Self { name: "verl", programs: home.join("venv/bin"), packages })
    }

    /// # Errors
    /// A path that cannot stand in a list of paths.
    pub fn python(&self) -> Result<Command> {
        let mut python = Command::new(self.programs.join("python"));
        python.arg("-B").env("PYTHONPATH", env::join_paths(&self.packages)?).env("PATH", in_front(&self.programs));
        Ok(python)
    }
}

fn environments() -> Result<Vec<Environment>> {
    let mut all: Vec<_> =
        ["trl", "openenv", "verifiers", "agents", "art"].map(Environment::get).into_iter().collect::<Result<_>>()?;
    all.push(Environment::verl(&all[0])?);
    Ok(all)
}

fn requirements(name: &str) -> String {
    format!("{FILES}/requirements-{name}.txt")
}

/// The path of a script.
///
/// # Errors
/// It is not there.
pub fn script(name: &str) -> Result<PathBuf> {
    Path::new(FILES).join(name).canonicalize().with_context(|| format!("there is no {name}"))
}

fn in_front(programs: &Path) -> String {
    format!("{}:{}", programs.display(), env::var("PATH").unwrap_or_default())
}

fn loudly_skipped(error: &anyhow::Error) -> Outcome {
    let rule = "!".repeat(100);
    eprintln!("{rule}\nNOT TESTED: environments with the packages of trainers.\n{error:#}\n{rule}");
    Outcome::Skipped("NOT TESTED with the packages of trainers: the package registry cannot be reached".into())
}
