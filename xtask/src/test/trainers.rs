//! Do trainers and agents really get along with our environments and exports? Their own packages play: TRL trains, `OpenEnv`'s client
//! and an MCP client walk an episode, `vf-eval` evaluates, and scenarios are played in every way with the same events and rewards. They also
//! load what is exported of groups, and we read the graphs that LangGraph writes. Every command has a limit of time.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::{Outcome, groundstate_or_build, with_database};
use crate::groundstate::Groundstate;
use crate::process::{quiet_within, run_within};
use crate::{install, places, python};

const FILES: &str = "xtask/src/test/trainers";
/// The project of the scripts.
pub const PROJECT: &str = "xtask/src/test/trainers/project";
const PACKAGE: &str = "python";
/// The project with the shipped playbooks: one project has one model of personas.
const SHIPPED: &str = "bank";
/// For commands that prepare the checks. They take seconds.
const PREPARATION: Duration = Duration::from_mins(5);

/// A script, and what it needs.
struct Check {
    script: &'static str,
    environment: &'static str,
    /// What it is told beside address and token.
    arguments: &'static [&'static str],
    /// How many minutes it may take: several times what it takes beside another step on two cores.
    minutes: u64,
}

const CHECKS: [Check; 12] = [
    Check { arguments: &[SHIPPED], ..Check::of("every_way.py", "openenv", 8) },
    Check::of("openenv_client.py", "openenv", 3),
    Check::of("mcp_client.py", "openenv", 3),
    Check::of("vf_eval.py", "verifiers", 8),
    Check::of("trl_grpo.py", "trl", 12),
    // Writes the files that the others load.
    Check::of("export_groups.py", "openenv", 5),
    Check::of("load_datasets.py", "trl", 4),
    Check::of("load_verifiers.py", "verifiers", 4),
    Check::of("load_prime_rl.py", "verl", 4),
    Check::of("load_art.py", "art", 4),
    Check::of("load_trl.py", "trl", 6),
    Check::of("load_verl.py", "verl", 6),
];

impl Check {
    const fn of(script: &'static str, environment: &'static str, minutes: u64) -> Self {
        Self { script, environment, arguments: &[], minutes }
    }
}

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
        let minutes = Duration::from_mins;
        run_within(minutes(5), python("openenv")?.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).arg(tests))?;
        for check in CHECKS {
            println!("\n==> {}", check.script);
            let mut python = python(check.environment)?;
            python.arg(script(check.script)?).args([&server.url, &token]).args(check.arguments);
            run_within(minutes(check.minutes), &mut python)?;
        }
        println!("\n==> langgraph_graphs.py");
        run_within(minutes(3), python("agents")?.arg(script("langgraph_graphs.py")?).arg(&groundstate.program))?;
        println!("\n==> own_agent.py");
        let mut own_agent = python("agents")?;
        own_agent.arg(script("own_agent.py")?).args([&server.url, &token]).arg(&groundstate.program);
        run_within(minutes(10), &mut own_agent)?;
        server.running.end().context("the server did not end")
    })?;
    Ok(Outcome::Passed)
}

/// The project of the scripts, another one with the shipped playbooks, and a token for both.
fn fill(groundstate: &Groundstate) -> Result<String> {
    let run = |arguments: &[&str]| quiet_within(PREPARATION, groundstate.command().args(arguments)).map(drop);
    run(&["projects", "create", SHIPPED, "--title", "Shipped"])?;
    run(&["sync", "--push", "--to", SHIPPED])?;
    run(&["sync", "--push", "--project", PROJECT])?;
    token(groundstate)
}

/// Of a user who may do everything.
pub fn token(groundstate: &Groundstate) -> Result<String> {
    quiet_within(PREPARATION, groundstate.command().args(["users", "create", "trainer", "--administrator"]))?;
    let token = ["tokens", "create", "--user", "trainer", "--name", "train", "--scope", "admin"];
    let said = quiet_within(PREPARATION, groundstate.command().args(token))?;
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
            python::venv(interpreter, home)?;
            python::pip(&home.join("venv/bin"), &["install", "--quiet", "--no-deps", "-r", &requirements])
        })?;
        let packages = ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"];
        let packages = quiet_within(PREPARATION, Command::new(trl.programs.join("python")).args(packages))?;
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
