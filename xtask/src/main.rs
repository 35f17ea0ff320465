//! `cargo xtask`: everything that is done with this repository, on a machine that has only Rust.

mod background_build;
mod bench;
mod demo;
mod groundstate;
mod hash;
mod install;
mod local_model;
mod npm;
mod places;
mod process;
mod python;
mod sqlx;
mod test;
mod web;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

/// Tasks of the Groundstate repository
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Task {
    /// Install what is missing, build, play 48 conversations, write their rows, serve the web app
    Demo(demo::Demo),
    /// Formatting, lints, the web app and all tests against a real PostgreSQL
    Test(test::Test),
    /// Measure the runtime: throughput, concurrency, crashes, errors
    Bench(bench::Bench),
    /// Build the web app into web/dist, from where a release embeds it and other builds read it
    Web(web::Web),
    /// Take the picture of README.md
    Picture,
    /// Write what PostgreSQL says about the server's queries to .sqlx, so that the server compiles without a database
    Prepare,
}

fn main() -> ExitCode {
    match run(Task::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<process::Interrupted>() => {
            eprintln!("xtask: {}", process::Interrupted);
            ExitCode::from(130)
        }
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    process::watch_signals()?;
    std::env::set_current_dir(places::root())?;
    match task {
        Task::Demo(demo) => demo.run(),
        Task::Test(test) => test.run(),
        Task::Bench(bench) => bench.run(),
        Task::Web(web) => web.run(),
        Task::Picture => test::e2e::picture(),
        Task::Prepare => sqlx::prepare(),
    }
}
