//! The running server process: starting it under its watchdog, and finding one that runs.

use std::fs::{self, File};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::account::Account;
use crate::error::PathContext;
use crate::files::Files;
use crate::{Error, Result};

const POLL: Duration = Duration::from_millis(20);
/// Long, because recovery after a crash happens in it.
const START: Duration = Duration::from_mins(2);

/// A server that is ready, as it says itself in `postmaster.pid`.
#[derive(Debug)]
pub struct Postmaster {
    pub sockets: PathBuf,
}

impl Postmaster {
    /// The file may be a leftover of a crash; only an answering socket is proof.
    pub fn running(files: &Files) -> Option<Self> {
        let text = fs::read_to_string(files.cluster().join("postmaster.pid")).ok()?;
        // pid, data directory, start time, port, socket directory, listen address, shared memory, status
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let (port, sockets, status) = (lines.get(3)?, PathBuf::from(lines.get(4)?), *lines.get(7)?);
        let answers = status == "ready" && UnixStream::connect(sockets.join(format!(".s.PGSQL.{port}"))).is_ok();
        answers.then_some(Self { sockets })
    }
}

pub struct Settings {
    /// Whether a commit survives a crash of the machine, and the data directory its last user.
    pub durable: bool,
}

/// Starts PostgreSQL and waits until it is ready. The child is the watchdog.
pub fn start(bin: &Path, files: &Files, account: &Account, settings: &Settings) -> Result<(Child, Postmaster)> {
    let mut watchdog = spawn(bin, files, account, settings)?;
    let started = Instant::now();
    while started.elapsed() < START {
        if let Some(postmaster) = Postmaster::running(files) {
            return Ok((watchdog, postmaster));
        }
        if watchdog.try_wait().at("wait for", bin)?.is_some() {
            break;
        }
        sleep(POLL);
    }
    Err(Error::NotStarted { log: files.log(), tail: files.log_tail() })
}

fn spawn(bin: &Path, files: &Files, account: &Account, settings: &Settings) -> Result<Child> {
    let log = File::create(files.log()).at("create", files.log())?;
    account.own(&files.log())?;
    let mut command = account.command("sh");
    command.args(["-c", include_str!("watchdog.sh"), "groundstate-postgres"]);
    command.arg(files.lock()).arg(if settings.durable { Path::new("") } else { files.data_dir() });
    command.arg(bin.join("postgres")).arg("-D").arg(files.cluster()).arg("-k").arg(&files.sockets);
    command.args(["-p", "5432", "-c", "listen_addresses=", "-c", "unix_socket_permissions=0700"]);
    // As many as a server and a dozen players use.
    command.args(["-c", "max_connections=300", "-c", "shared_buffers=256MB"]);
    // Mass writing: a checkpoint makes every page be logged whole once more, so they are rare. No query here is worth
    // compiling.
    command.args(["-c", "max_wal_size=4GB", "-c", "checkpoint_timeout=15min", "-c", "jit=off"]);
    let sync = if settings.durable { "on" } else { "off" };
    command.args(["-c", &format!("fsync={sync}"), "-c", &format!("synchronous_commit={sync}")]);
    command.args(["-c", &format!("full_page_writes={sync}")]);
    command
        .current_dir(&files.home)
        .stdin(Stdio::null())
        .stdout(log.try_clone().at("share", files.log())?)
        .stderr(log)
        // The terminal's Ctrl-C is for us; we stop PostgreSQL in order.
        .process_group(0)
        .spawn()
        .at("run sh for", bin)
}

/// Stops a server whose watchdog is gone. `pg_ctl` waits until it has stopped.
pub fn stop_orphan(bin: &Path, files: &Files, account: &Account) -> Result<()> {
    let mut command = account.command(bin.join("pg_ctl"));
    command.arg("stop").args(["-m", "fast", "-s", "-D"]).arg(files.cluster()).current_dir(&files.home);
    command.status().at("run", bin.join("pg_ctl")).map(drop)
}

/// Waits until the server is gone, at most `limit`.
pub fn wait_until_stopped(files: &Files, limit: Duration) {
    let started = Instant::now();
    while files.cluster().join("postmaster.pid").exists() && started.elapsed() < limit {
        sleep(POLL);
    }
}

/// util-linux has `flock`, and the watchdog cannot do without.
pub fn check_flock() -> Result<()> {
    let found = Command::new("flock").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if found.is_ok_and(|status| status.success()) { Ok(()) } else { Err(Error::NoFlock) }
}
