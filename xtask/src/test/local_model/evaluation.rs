//! `vf-eval` of verifiers plays our taskset with the model in its engine as the agent.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::groundstate::{Groundstate, RunningProcess, Server};
use crate::local_model::{LocalModel, NAME, threads};
use crate::process::{quiet, run};
use crate::test::trainers::{self, Environment, PROJECT};

/// A model this small repeats itself: it is stopped early.
const LIMITS: &str = "limits: {user_turns: 2, agent_steps: 3, attempts: 2}\n";
/// For each of two requests at once: a prompt of the doors takes a tenth of it.
const CONTEXT: &str = "8192";

pub fn run_vf_eval(
    groundstate: &Groundstate,
    server: &Server,
    model: &LocalModel,
    verifiers: &Environment,
    files: &Path,
) -> Result<()> {
    println!("==> vf-eval with {NAME} as the agent");
    if files.exists() {
        fs::remove_dir_all(files)?;
    }
    fs::create_dir_all(files)?;
    let project = files.join("project");
    quiet(Command::new("cp").arg("-r").arg(PROJECT).arg(&project))?;
    let playbook = project.join("playbooks/doors/playbook.yaml");
    fs::write(&playbook, fs::read_to_string(&playbook)? + LIMITS)?;
    quiet(groundstate.command().args(["sync", "--push", "--project"]).arg(&project))?;
    let token = trainers::token(groundstate)?;
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string();
    let mut engine = Command::new(&model.engine);
    engine.arg("--model").arg(&model.weights).args(["--host", "127.0.0.1", "--port", &port, "--ctx-size", CONTEXT]);
    engine.args(["--parallel", "2", "--threads", &threads(), "--jinja", "--metrics", "--log-disable"]);
    let engine = RunningProcess::start(&mut engine)?;
    let mut script = verifiers.python()?;
    script.arg(trainers::script("vf_eval.py")?).args([&server.url, &token, &format!("http://127.0.0.1:{port}"), NAME]);
    run(script.current_dir(files))?;
    engine.end()
}
