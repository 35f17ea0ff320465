//! Does the product stand a real model, from an engine that really starts to scored conversations? A model this small solves
//! no case; what it says is real all the same, and everything else must hold.

mod evaluation;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::trainers::Environment;
use super::{Outcome, groundstate_or_build, with_database};
use crate::groundstate::Groundstate;
use crate::local_model::run::{ModelUse, Run};
use crate::local_model::{self, NAME, Progress, Worker, play, table};
use crate::{install, places, python};

const CONVERSATIONS: u32 = 3;
/// How often they are played, each time with another seed, for the agent to be heard at all: once in a while so small a
/// model spoils them all before.
const ROUNDS: u32 = 3;

pub fn run_step() -> Result<Outcome> {
    let needed = || anyhow::Ok((local_model::fetch(Progress::Shown)?, Environment::get("verifiers")?));
    let (model, verifiers) = match needed() {
        Ok(needed) => needed,
        Err(error) if error.is::<python::Unreachable>() => return Ok(loudly_skipped(&error)),
        Err(error) => return Err(error),
    };
    install::postgres()?;
    let program = groundstate_or_build()?;
    let files = places::target_dir().join("xtask/local-model-test");
    fs::create_dir_all(&files)?;
    with_database(|url| {
        let groundstate = Groundstate { program, database: Some(url.to_owned()) };
        let kept = files.join("files");
        let serve =
            ["--listen", "127.0.0.1:0", "--agent-urls", "http://127.0.0.1:", "--files", &kept.to_string_lossy()];
        let server = groundstate.serve(&serve)?;
        let worker = Worker::start(&groundstate, &server, &model)?;
        check(&played_until_heard(&groundstate, &files.join("played"))?)?;
        worker.leave(&groundstate)?;
        evaluation::run_vf_eval(&groundstate, &server, &model, &verifiers, &files.join("evaluated"))?;
        server.running.end().context("the server did not end")
    })?;
    Ok(Outcome::Passed)
}

fn played_until_heard(groundstate: &Groundstate, files: &Path) -> Result<Run> {
    let mut seed = 1;
    loop {
        let played = play::both(groundstate, files, CONVERSATIONS, seed)?;
        println!("\n{}\n", table::of(&played)?);
        if seed == ROUNDS || !played.local.rows.is_empty() {
            return Ok(played.local);
        }
        seed += 1;
    }
}

fn loudly_skipped(error: &anyhow::Error) -> Outcome {
    let rule = "!".repeat(100);
    eprintln!("{rule}\nNOT TESTED: the product with a real model.\n{error:#}\n{rule}");
    Outcome::Skipped("NOT TESTED with a real model: the package registry cannot be reached".into())
}

/// What must hold, whatever the model makes of it.
fn check(run: &Run) -> Result<()> {
    ensure!(
        run.value_after("finished")? == format!("{CONVERSATIONS} of {CONVERSATIONS}"),
        "not all ended:\n{}",
        run.shown
    );
    let failures = run.value_after("failures")?.split(", ").filter(|failures| *failures != "none");
    for failures in failures {
        let blamed = failures.split_once(" by ").map(|(_, who)| who);
        ensure!(matches!(blamed, Some("agent" | "simulated user")), "the model is not to blame: {failures}");
    }
    for role in ["agent", "simulated user"] {
        let by_model = |asked: &ModelUse<'_>| asked.role == role && asked.model == NAME;
        let asked =
            run.model_use().into_iter().find(by_model).with_context(|| format!("{role}: {NAME} was not asked"))?;
        ensure!(asked.tokens_read > 0 && asked.tokens_written > 0, "{asked:?}");
    }
    ensure!(!run.rows.is_empty(), "the agent said nothing in any conversation");
    run.rows.iter().try_for_each(|row| check_row(row).with_context(|| format!("{row:#}")))
}

/// Both sides were said by the model, and it says so.
fn check_row(row: &Value) -> Result<()> {
    let messages = row["messages"].as_array().context("there are no messages")?;
    for (role, speaker) in [("agent", "assistant"), ("simulated_user", "user")] {
        let metadata = &row["metadata"];
        ensure!(metadata["models"][role] == NAME, "{role} was played by {}", metadata["models"][role]);
        ensure!(metadata["usage"][role]["completion_tokens"].as_u64() > Some(0), "{role} cost nothing");
        ensure!(messages.iter().any(|message| message["role"] == speaker), "no message is by the {speaker}");
    }
    Ok(())
}
