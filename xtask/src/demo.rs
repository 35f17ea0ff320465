//! The product on its own content, on a machine that has only Rust.

use std::process::Command;
use std::{env, thread};

use anyhow::{Result, anyhow};
use rustix::process::nice;

use crate::groundstate::Groundstate;
use crate::local_model::{self, LocalModel, Progress, Worker, play, table};
use crate::process::{end_descendants, run};
use crate::{install, places, web};

/// Nothing is optimised. The demo plays from scripts, and the program is fast enough for it.
const PROFILE: &str = "demo";
const ROWS: &str = "demo-rows.jsonl";

#[derive(clap::Args)]
pub struct Demo {
    /// End after the rows are written instead of serving the web app
    #[arg(long)]
    once: bool,
    /// Then play with a real small model, too, which a worker serves on this machine: SmolLM2-135M-Instruct by llama.cpp
    #[arg(long)]
    with_local_model: bool,
    /// How many conversations the small model plays
    #[arg(long, default_value_t = 4, value_name = "N", requires = "with_local_model",
          value_parser = clap::value_parser!(u32).range(1..=200))]
    local_conversations: u32,
}

impl Demo {
    pub fn run(self) -> Result<()> {
        if env::var_os("DATABASE_URL").is_none() {
            install::postgres()?;
        }
        // Before all that takes long: it may be out of reach.
        let model = self.with_local_model.then(|| local_model::fetch(Progress::Shown)).transpose()?;
        build_and_play()?;
        if let Some(model) = model {
            return self.play_local(&model);
        }
        if self.once {
            return Ok(());
        }
        println!("==> serving; Ctrl-C ends it");
        run(groundstate().arg("serve"))
    }

    fn play_local(&self, model: &LocalModel) -> Result<()> {
        let groundstate = Groundstate { program: places::groundstate(PROFILE), database: None };
        // Nobody has to know where it listens if it ends with us.
        let listen = if self.once { "127.0.0.1:0" } else { "127.0.0.1:7878" };
        println!("==> starting a server and a worker");
        let mut server = groundstate.serve(&["--listen", listen])?;
        let worker = Worker::start(&groundstate, &server, model)?;
        let played =
            play::both(&groundstate, &places::target_dir().join("xtask/local-model"), self.local_conversations, 1)?;
        println!("\n{}\n", table::of(&played)?);
        if self.once {
            worker.leave(&groundstate)?;
            return server.running.end();
        }
        println!("==> serving at {}; Ctrl-C ends it", server.url);
        if let Some(welcome) = &server.welcome {
            println!("{welcome}");
        }
        server.running.wait()
    }
}

/// The program, and what needs nothing else, while the web app is still being built: neither keeps two cores busy by itself.
/// Nothing is optimised that would take minutes; the program reads the app when a browser asks for it.
fn build_and_play() -> Result<()> {
    println!("==> building groundstate and its web app (the first time takes minutes)");
    // Whoever fails ends the other.
    let app = thread::spawn(|| {
        // The program has the longer way: where there is a core for both, it goes first. On Linux this is the thread's own.
        let _ = nice(5);
        web::build_fast_once().inspect_err(|_| end_descendants())
    });
    let played = build_program().and_then(|()| play()).inspect_err(|_| end_descendants());
    let app = app.join().unwrap_or_else(|_| Err(anyhow!("building the web app broke off")));
    match (played, app) {
        (Err(played), Err(app)) => Err(anyhow!("{played:#}\n{app:#}")),
        (played, app) => played.and(app),
    }
}

fn build_program() -> Result<()> {
    // Checked queries are taken from .sqlx, whatever DATABASE_URL says.
    run(places::cargo().args(["build", "--profile", PROFILE, "--package", "server"]).env("SQLX_OFFLINE", "true"))
}

fn play() -> Result<()> {
    println!("==> adding the documents of this folder to the project default");
    run(groundstate().args(["sync", "--push", "--missing", "--message", "The demonstration"]))?;
    println!("==> playing 48 conversations, rows to {ROWS}");
    run(groundstate().args(["generate", "--n", "48", "--seed", "1", "--out", ROWS]))
}

fn groundstate() -> Command {
    Command::new(places::groundstate(PROFILE))
}
