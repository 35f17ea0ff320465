//! The same cases, played twice: from the script, and by the model as agent and as simulated user.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::NAME;
use super::run::Run;
use crate::groundstate::Groundstate;
use crate::process::{quiet, run};

const PLAYBOOK: &str = "corner_shop";
/// The longest replies, in tokens. A small model that does not come to an end is stopped here.
const MAX_TOKENS: [&str; 4] = ["--max-tokens", "agent=256", "--max-tokens", "simulated_user=128"];

/// A small model repeats itself without end. What it has not done by then it will not do.
const LIMITS: &str = "\nlimits: {user_turns: 4, agent_steps: 4, attempts: 3}\n";

pub struct PlayedRun {
    pub scripted: Run,
    pub local: Run,
}

/// What becomes of each conversation depends on the model alone, and is no reason to fail here.
pub fn both(groundstate: &Groundstate, files: &Path, n: u32, seed: u32) -> Result<PlayedRun> {
    let project = project(groundstate, files)?;
    // On two cores one takes half a minute. A model that is stuck must not keep anybody waiting for ever.
    let limit = (300 + 60 * n).to_string();
    println!("==> {n} conversations from the script");
    let (n, seed) = (n.to_string(), seed.to_string());
    let order = ["--n", &n, "--seed", &seed];
    let scripted = played(groundstate, files, &project, "scripted", &order)?;
    println!("==> the same {n} conversations, {NAME} being agent and simulated user");
    let styles = ["--agent-style", "json", "--user-style", "json"];
    let who = ["--agent", NAME, "--user", NAME, "--retries", "0", "--budget-seconds", &limit];
    let flags = [&order[..], &who, &styles, &MAX_TOKENS].concat();
    let local = played(groundstate, files, &project, "local", &flags)?;
    Ok(PlayedRun { scripted, local })
}

/// The small playbook that authors begin with: its prompts fit the model, which reads 280 tokens a second on two cores.
fn project(groundstate: &Groundstate, files: &Path) -> Result<PathBuf> {
    if files.exists() {
        fs::remove_dir_all(files)?;
    }
    let project = files.join("project");
    fs::create_dir_all(&project)?;
    quiet(groundstate.command().args(["playbook", "new", PLAYBOOK]).current_dir(&project))?;
    let playbook = project.join(format!("playbooks/{PLAYBOOK}/playbook.yaml"));
    fs::write(&playbook, fs::read_to_string(&playbook)? + LIMITS)?;
    fs::write(project.join("models.yaml"), format!("models:\n  - {{name: {NAME}, workers: true}}\n"))?;
    Ok(project)
}

/// With all its rows, whatever they came to.
fn played(groundstate: &Groundstate, files: &Path, project: &Path, name: &str, flags: &[&str]) -> Result<Run> {
    let out = |name: &str| files.join(format!("{name}.jsonl"));
    let mut generate = groundstate.command();
    generate.args(["generate", "--playbook", PLAYBOOK]).args(flags);
    run(generate.arg("--project").arg(project).arg("--out").arg(out(&format!("{name}-accepted"))))?;
    let shown = quiet(groundstate.command().args(["runs", "show"]))?;
    quiet(groundstate.command().args(["export", "--all", "--out"]).arg(out(name)))?;
    let text = fs::read_to_string(out(name))?;
    let rows = text.lines().map(|line| serde_json::from_str(line).context("a row is no JSON"));
    Ok(Run { shown, rows: rows.collect::<Result<_>>()? })
}
