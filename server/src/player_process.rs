//! A process that plays, started by another one: by `serve`, so that what is played cannot harm those who use the web app,
//! and by a player, for tasks in quarantine.
//!
//! It is this program's `play`. Its standard input is a socket to the process that started it ([`PlayerLink`]). It lives as long as that
//! is open, so that it never outlives that process.

mod link;
mod quarantine;
mod supervision;

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;

pub use link::{EpisodeFailure, NextState, NextTurn, NoAnswer, PlayerLink, TurnAnswer, obey};
pub use quarantine::watch;
pub use supervision::{DATABASE_AWAY, PlayerOrder, supervise};

/// How long a process has for the end, beside what it was told to wait for calls in flight.
const TO_END: Duration = Duration::from_secs(10);

pub struct PlayerProcess {
    /// Killed when it is dropped.
    child: Child,
    /// Closed when it is asked to stop.
    socket: Option<UnixStream>,
    drain: Duration,
}

impl PlayerProcess {
    /// `arguments`: of `groundstate play`. `drain`: how long it waits for calls in flight when it is asked to stop.
    pub fn start(arguments: &[OsString], database_url: &str, drain: Duration) -> io::Result<Self> {
        let (socket, of_child) = UnixStream::pair()?;
        let of_child = of_child.into_std()?;
        let child = Command::new(sandbox::this_program())
            .args(["play", "--child"])
            .args(arguments)
            .env("DATABASE_URL", database_url)
            .env_remove("GROUNDSTATE_DATA")
            .stdin(OwnedFd::from(of_child))
            .stdout(Stdio::null())
            // Ctrl-C in a terminal is for the process that started this one, which then asks it to stop.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        Ok(Self { child, socket: Some(socket), drain })
    }

    /// The socket to it, once. It stops when that is closed.
    pub fn socket(&mut self) -> Option<UnixStream> {
        self.socket.take()
    }

    /// As it is registered in the database.
    pub fn pid(&self) -> Option<i32> {
        self.child.id().and_then(|pid| i32::try_from(pid).ok())
    }

    pub async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Asks it to stop by closing the socket, unless that is done already, and waits until it has; one that does not stop is killed.
    pub async fn stop(mut self) {
        drop(self.socket.take());
        if timeout(self.drain + TO_END, self.child.wait()).await.is_err() {
            drop(self.child.kill().await);
        }
    }

    pub async fn kill(&mut self) {
        drop(self.child.kill().await);
    }
}

/// The socket to the process that started this one.
///
/// # Errors
/// Standard input is no socket.
pub fn server_socket() -> io::Result<UnixStream> {
    let socket = StdUnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}
