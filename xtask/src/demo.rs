//! The product on its own content, on a machine that has only Rust.

use std::env;
use std::process::Command;

use anyhow::Result;

use crate::process::run;
use crate::{install, places, web};

const ROWS: &str = "demo-rows.jsonl";

#[derive(clap::Args)]
pub struct Demo {
    /// End after the rows are written instead of serving the web app
    #[arg(long)]
    once: bool,
}

impl Demo {
    pub fn run(self) -> Result<()> {
        if env::var_os("DATABASE_URL").is_none() {
            install::postgres()?;
        }
        web::build()?;
        println!("==> building groundstate (the first time takes minutes)");
        // Checked queries are taken from .sqlx, whatever DATABASE_URL says.
        run(places::cargo().args(["build", "--release", "--package", "server"]).env("SQLX_OFFLINE", "true"))?;
        println!("==> playing 48 conversations, rows to {ROWS}");
        run(groundstate().args(["generate", "--n", "48", "--seed", "1", "--out", ROWS]))?;
        if self.once {
            return Ok(());
        }
        println!("==> serving; Ctrl-C ends it");
        run(groundstate().arg("serve"))
    }
}

fn groundstate() -> Command {
    Command::new(places::groundstate("release"))
}
