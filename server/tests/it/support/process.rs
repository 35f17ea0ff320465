//! The program as processes over the database of a test.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use sqlx::PgPool;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::database_url;

pub fn groundstate(pool: &PgPool, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groundstate"));
    command.args(arguments).env("DATABASE_URL", database_url(pool)).env_remove("GROUNDSTATE_DATA");
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// A process that only plays, four conversations at once.
pub fn play(pool: &PgPool) -> Child {
    let mut command = groundstate(pool, &["play", "--concurrency", "4", "--lease", "1"]);
    command.stdout(Stdio::null()).spawn().unwrap()
}

pub fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().unwrap().cast_signed()).unwrap()
}

/// Asks it to stop, as whoever looks after services does.
pub fn terminate(child: &Child) {
    kill_process(pid(child), Signal::TERM).unwrap();
}

/// A process that answers HTTP.
pub struct Listening {
    pub child: Child,
    pub url: String,
}

impl Listening {
    /// Starts it, and reads in its first line where it listens.
    pub async fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = said.next_line().await.unwrap().unwrap();
        let (_, address) = line.split_once("http://").unwrap_or_else(|| panic!("no address in `{line}`"));
        let url = format!("http://{}", address.split('/').next().unwrap());
        // What it says later is read and dropped: a full pipe would stop it.
        tokio::spawn(async move { while let Ok(Some(_)) = said.next_line().await {} });
        Self { child, url }
    }

    pub async fn get(&self, path: &str) -> reqwest::Result<String> {
        llm::http_client().build()?.get(format!("{}{path}", self.url)).send().await?.error_for_status()?.text().await
    }

    /// Asks it to stop, and says with which code it ends.
    pub async fn stopped(mut self) -> Option<i32> {
        terminate(&self.child);
        self.child.wait().await.unwrap().code()
    }
}
