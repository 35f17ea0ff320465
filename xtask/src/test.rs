//! `cargo xtask test`: one step after the other, until one fails.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::ValueEnum;
use database::PrivatePostgres;

use crate::background_build::BackgroundBuild;
use crate::local_model::{Progress, fetch as fetch_model};
use crate::places::{self, cargo};
use crate::process::{quiet, run, succeeds};
use crate::{install, sqlx, web};

mod api;
mod deploy;
pub mod e2e;
mod export;
mod fuzz;
mod local_model;
mod readme;
mod side_by_side;
mod storage;
mod trainers;

#[derive(clap::Args)]
pub struct Test {
    /// Run only these steps
    #[arg(long, value_enum, value_delimiter = ',', value_name = "STEP")]
    only: Vec<Step>,
}

/// In the order in which they run. The web app goes before what builds the server, which embeds it.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Formatting
    Fmt,
    /// Lints, in the same compilation as all that is tested, against a database where queries may have changed
    Clippy,
    /// Whether .sqlx is current
    Sqlx,
    /// The web app, for the browser, and the parts of its editor that need none
    Web,
    /// All Rust tests, with a real PostgreSQL
    Unit,
    /// Fuzzing of all that reads what others write, for a bounded time
    Fuzz,
    /// Datasets and indexes in S3 in place of folders
    Storage,
    /// Whether trainers can read what is exported
    Export,
    /// Whether trainers and agents play in our environments
    Trainers,
    /// Whether the API keeps what its document says
    Api,
    /// Whether the files of deploy/ are well formed and name only what there is
    Deploy,
    /// A real small model on a real engine: worker, conversations, scores
    LocalModel,
    /// The web app in a real browser
    E2e,
    /// Whether README.md leads where it says, in a clone. Only if it is named: it builds everything once more
    Readme,
    /// Licences and advisories of the crates we use
    Deny,
}

enum Outcome {
    Passed,
    Skipped(String),
}

impl Test {
    pub fn run(self) -> Result<()> {
        let chosen = |step: &Step| {
            // A build of its own takes ten minutes: it is run when README.md or the demo has changed.
            let usual = self.only.is_empty() && *step != Step::Readme;
            usual || self.only.contains(step)
        };
        // The web app is compiled on one core, for longer than anything else; lints and queries need the other.
        let _app = chosen(&Step::Web).then(|| BackgroundBuild::start(web::compile_ahead));
        // An engine is built from its sources: other steps leave a core idle for minutes.
        let _model = chosen(&Step::LocalModel).then(|| BackgroundBuild::start(|| fetch_model(Progress::Hidden)));
        let mut summary = Vec::new();
        let steps: Vec<Step> = Step::value_variants().iter().copied().filter(chosen).collect();
        for steps in steps.chunk_by(|one, next| one.leaves_a_core_idle() && next.leaves_a_core_idle()) {
            match steps {
                [step] => summary.push(step.run_timed()?),
                steps => summary.extend(side_by_side::run(steps)?),
            }
        }
        println!("\n==> all steps passed\n{}", summary.join("\n"));
        Ok(())
    }
}

impl Step {
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// What mostly is one process that computes, and needs nothing that another of these makes.
    const fn leaves_a_core_idle(self) -> bool {
        matches!(self, Self::Fuzz | Self::Storage | Self::Export | Self::Trainers | Self::Api | Self::Deploy)
    }

    fn run_timed(self) -> Result<String> {
        let name = self.name();
        println!("\n==> {name}");
        let started = Instant::now();
        let outcome =
            self.run().with_context(|| format!("step {name}; repeat with `cargo xtask test --only {name}`"))?;
        let seconds = started.elapsed().as_secs_f64();
        let line = match outcome {
            Outcome::Passed => format!("    {name:11} {seconds:7.1} s"),
            Outcome::Skipped(why) => format!("    {name:11} skipped: {why}"),
        };
        println!("{line}");
        Ok(line)
    }

    fn run(self) -> Result<Outcome> {
        match self {
            Self::Fmt => run(cargo().args(["fmt", "--all", "--check"]))?,
            Self::Clippy => clippy()?,
            Self::Sqlx => sqlx::check()?,
            Self::Web => {
                web::build()?;
                web::test_editor()?;
            }
            Self::Unit => unit()?,
            Self::Fuzz => return fuzz::run_step(),
            Self::Storage => return storage::run_step(),
            Self::Export => return export::run_step(),
            Self::Trainers => return trainers::run_step(),
            Self::Api => return api::run_step(),
            Self::Deploy => return deploy::run_step(),
            Self::LocalModel => return local_model::run_step(),
            Self::E2e => return e2e::run_step(),
            Self::Readme => return readme::run_step(),
            Self::Deny => return deny(),
        }
        Ok(Outcome::Passed)
    }
}

fn clippy() -> Result<()> {
    sqlx::build_for_check(linted("build").args(["--quiet", "--all-targets"]))
}

/// Cargo for the whole workspace, with clippy in the compiler's place: it compiles as the compiler does. `cargo clippy` would
/// compile every crate and every dependency once more, without a program in the end.
fn linted(subcommand: &str) -> Command {
    let mut cargo = cargo();
    cargo.args(subcommand.split(' ')).arg("--workspace");
    cargo.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver").env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings");
    cargo.env("SQLX_OFFLINE", "true");
    cargo
}

/// Each test makes a database of its own in this server. Most wait for players and leases rather than compute.
fn unit() -> Result<()> {
    install::postgres()?;
    let mut tests = linted("test");
    if succeeds(cargo().args(["nextest", "--version"])) {
        tests = linted("nextest run");
        tests.arg(format!("--test-threads={}", 3 * thread::available_parallelism()?.get()));
    }
    tests.arg("--no-fail-fast").env("TMPDIR", places::scratch_dir());
    let program = build_groundstate()?;
    with_database(|url| {
        fill_template(&program, url)?;
        run(tests.env("DATABASE_URL", url))
    })
}

/// Databases are made as copies of `template1`. With our tables in it, the tests need not make them hundreds of times.
fn fill_template(program: &Path, url: &str) -> Result<()> {
    let (server, _) = url.rsplit_once('/').context("the address of the database names none")?;
    quiet(Command::new(program).args(["runs", "list"]).env("DATABASE_URL", format!("{server}/template1"))).map(drop)
}

fn deny() -> Result<Outcome> {
    if !succeeds(cargo().args(["deny", "--version"])) {
        return Ok(Outcome::Skipped("cargo-deny is not installed (cargo install cargo-deny)".into()));
    }
    run(cargo().args(["deny", "check"]))?;
    Ok(Outcome::Passed)
}

fn with_database<T>(action: impl FnOnce(&str) -> Result<T>) -> Result<T> {
    let postgres = PrivatePostgres::throwaway_in(&places::scratch_dir())?;
    let result = action(postgres.url());
    postgres.stop();
    result
}

/// The program as the tests build it: with the features of the whole workspace, so that nothing is compiled twice.
fn build_groundstate() -> Result<std::path::PathBuf> {
    run(linted("build").args(["--quiet", "--all-targets"]))?;
    Ok(places::groundstate("debug"))
}

/// A program that was built already, if `GROUNDSTATE_BIN` names one: for trials of a step that does not look at what is new.
fn groundstate_or_build() -> Result<std::path::PathBuf> {
    std::env::var_os("GROUNDSTATE_BIN").map_or_else(build_groundstate, |program| Ok(program.into()))
}
