//! Does the product stand a real model, from an engine that really starts to scored conversations? A model this small solves
//! no case; what it says is real all the same, and everything else must hold.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Outcome, groundstate_or_build, with_database};
use crate::groundstate::Groundstate;
use crate::local_model::{self, NAME, Worker, play, table};
use crate::{install, places, python};

const CONVERSATIONS: u32 = 2;

pub fn run_step() -> Result<Outcome> {
    let model = match local_model::fetch() {
        Ok(model) => model,
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
        let server = groundstate.serve(&["--listen", "127.0.0.1:0", "--files", &kept.to_string_lossy()])?;
        let worker = Worker::start(&groundstate, &server, &model)?;
        let played = play::both(&groundstate, &files.join("played"), CONVERSATIONS)?;
        println!("{}", table::of(&played));
        ensure!(played.local.len() == CONVERSATIONS as usize, "{} conversations became rows", played.local.len());
        for row in &played.local {
            check(row).with_context(|| format!("{:#}", row["metadata"]))?;
        }
        worker.leave(&groundstate)?;
        server.running.end().context("the server did not end")
    })?;
    Ok(Outcome::Passed)
}

fn loudly_skipped(error: &anyhow::Error) -> Outcome {
    let rule = "!".repeat(100);
    eprintln!("{rule}\nNOT TESTED: the product with a real model.\n{error:#}\n{rule}");
    Outcome::Skipped("NOT TESTED with a real model: the package registry cannot be reached".into())
}

/// What must hold of a conversation, whatever the model makes of it.
fn check(row: &Value) -> Result<()> {
    let metadata = &row["metadata"];
    let blame = metadata["blame"].as_str().context("nobody knows how it ended")?;
    let ended_well = metadata["accepted"] == true && blame.is_empty();
    ensure!(ended_well || ["agent", "simulated_user"].contains(&blame), "it failed by `{blame}`");
    for role in ["agent", "simulated_user"] {
        ensure!(metadata["models"][role] == NAME, "{role} was played by {}", metadata["models"][role]);
        let tokens = &metadata["usage"][role];
        let spent = |kind: &str| tokens[kind].as_u64().is_some_and(|tokens| tokens > 0);
        ensure!(spent("prompt_tokens") && spent("completion_tokens"), "{role} cost {tokens}");
        let scripted = metadata["scripted_roles"].as_array().context("no scripted_roles")?;
        ensure!(!scripted.iter().any(|scripted| scripted == role), "{role} was played from the script");
    }
    let messages = row["messages"].as_array().context("there are no messages")?;
    for role in ["user", "assistant"] {
        ensure!(messages.iter().any(|message| message["role"] == role), "no message is by the {role}");
    }
    Ok(())
}
