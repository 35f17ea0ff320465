//! `groundstate db exec`: runs a command with a private PostgreSQL, as tests and tools want it.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::process::{Child, Command};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;

use crate::postgres::{PrivatePostgres, default_data_dir};

/// The terminal sends Ctrl-C to the command too. Only one that is still there after this time did not get it.
const OWN_CTRL_C: Duration = Duration::from_secs(2);

#[derive(clap::Subcommand)]
pub enum DbCommand {
    /// Run a command with `DATABASE_URL` pointing to the private PostgreSQL, and stop PostgreSQL afterwards
    Exec(Exec),
}

#[derive(clap::Args)]
pub struct Exec {
    /// Folder of the database [default: /var/lib/groundstate for root, else ~/.local/share/groundstate]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Use a new database that is removed afterwards
    #[arg(long, conflicts_with = "data_dir")]
    throwaway: bool,
    /// The command to run, with its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub async fn run(command: DbCommand) -> Result<ExitCode> {
    let DbCommand::Exec(exec) = command;
    // From now on a signal waits until PostgreSQL is up, and can be stopped in order.
    let signals = Signals::listen()?;
    let postgres = if exec.throwaway {
        PrivatePostgres::throwaway().await?
    } else {
        PrivatePostgres::start(&exec.data_dir.unwrap_or_else(default_data_dir)).await?
    };
    let status = run_with(&exec.command, postgres.url(), signals).await;
    postgres.stop().await;
    Ok(exit_code(status?))
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }
}

async fn run_with(command: &[OsString], url: &str, mut signals: Signals) -> Result<ExitStatus> {
    let (program, arguments) = command.split_first().context("no command given")?;
    let mut child = Command::new(program)
        .args(arguments)
        .env("DATABASE_URL", url)
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("cannot run {}", program.to_string_lossy()))?;
    tokio::select! {
        status = child.wait() => return Ok(status?),
        _ = signals.interrupt.recv() => {
            if let Ok(status) = timeout(OWN_CTRL_C, child.wait()).await {
                return Ok(status?);
            }
        }
        _ = signals.terminate.recv() => {}
        _ = signals.hang_up.recv() => {}
    }
    terminate_child(&child);
    Ok(child.wait().await?)
}

/// SIGTERM rather than SIGINT: a shell script's background commands ignore the latter.
fn terminate_child(child: &Child) {
    let pid = child.id().and_then(|pid| rustix::process::Pid::from_raw(pid.cast_signed()));
    if let Some(pid) = pid {
        // It fails only when the command has ended already.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
}

/// As a shell reports it: 128 and the signal's number for a command that a signal ended.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
