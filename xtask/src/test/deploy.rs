//! Are the files by which Groundstate is deployed right? deploy/check.py asks schemas, and the program: what they name, it
//! must have.

use std::process::Command;

use anyhow::Result;

use super::{Outcome, build_groundstate};
use crate::process::run;
use crate::python;

const REQUIREMENTS: &str = "deploy/requirements.txt";

pub fn run_step() -> Result<Outcome> {
    let program = build_groundstate()?;
    let programs = python::environment("deploy-check", REQUIREMENTS)?;
    run(Command::new(programs.join("python")).arg("deploy/check.py").env("GROUNDSTATE_BIN", program))?;
    Ok(Outcome::Passed)
}
