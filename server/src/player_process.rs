//! A process that plays, started by another one: by `serve`, so that what is played cannot harm those who use the web app,
//! and by a player, for tasks in quarantine.
//!
//! It is this program's `play`. It lives as long as its standard input is open, so that it never outlives the process that
//! started it, and answers each line there with its figures.

mod keep;
mod quarantine;

use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::process::{ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::telemetry;
pub use keep::{PlayerFigures, PlayerOrder, keep};
pub use quarantine::watch;

/// How long a process has for the end, beside what it was told to wait for calls in flight.
const TO_END: Duration = Duration::from_secs(10);
/// How long it may take over its figures.
const FOR_FIGURES: Duration = Duration::from_secs(2);
/// More figures than that are none.
const LARGEST_FIGURES: u32 = 16 << 20;

pub struct PlayerProcess {
    /// Killed when it is dropped.
    child: Child,
    /// Closed when it is asked to stop.
    to: Option<ChildStdin>,
    from: ChildStdout,
    drain: Duration,
    /// It did not answer once, and is not asked any more.
    late: bool,
}

impl PlayerProcess {
    /// `arguments`: of `groundstate play`. `drain`: how long it waits for calls in flight when it is asked to stop.
    pub fn start(arguments: &[OsString], database_url: &str, drain: Duration) -> io::Result<Self> {
        let mut child = Command::new(sandbox::this_program())
            .args(["play", "--child"])
            .args(arguments)
            .env("DATABASE_URL", database_url)
            .env_remove("GROUNDSTATE_DATA")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C in a terminal is for the process that started this one, which then asks it to stop.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let lost = || io::Error::other("a pipe to a player is missing");
        let (to, from) = (child.stdin.take().ok_or_else(lost)?, child.stdout.take().ok_or_else(lost)?);
        Ok(Self { child, to: Some(to), from, drain, late: false })
    }

    /// As it is registered in the database.
    pub fn pid(&self) -> Option<i32> {
        self.child.id().and_then(|pid| i32::try_from(pid).ok())
    }

    pub async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Asks it to stop, and waits until it has; one that does not stop is killed.
    pub async fn stop(mut self) {
        drop(self.to.take());
        if timeout(self.drain + TO_END, self.child.wait()).await.is_err() {
            drop(self.child.kill().await);
        }
    }

    pub async fn kill(&mut self) {
        drop(self.child.kill().await);
    }

    /// Its figures in Prometheus' text format; none if it does not answer.
    pub async fn figures(&mut self) -> Option<String> {
        if self.late {
            return None;
        }
        let to = self.to.as_mut()?;
        let from = &mut self.from;
        let ask = async {
            to.write_all(b"figures\n").await?;
            let length = from.read_u32().await?;
            if length > LARGEST_FIGURES {
                return Err(io::Error::other("its figures are too long"));
            }
            let mut text = vec![0; length as usize];
            from.read_exact(&mut text).await?;
            Ok(String::from_utf8_lossy(&text).into_owned())
        };
        let answered = timeout(FOR_FIGURES, ask).await.ok().and_then(io::Result::ok);
        // An answer that comes late would be taken for that to the next question.
        self.late = answered.is_none();
        answered
    }
}

/// What such a process does beside playing, in a thread of its own: it answers with its figures, and stops when the other
/// end closes.
pub fn obey(stop: CancellationToken) {
    thread::spawn(move || {
        let mut to = io::stdout().lock();
        for _ in io::stdin().lock().lines().map_while(Result::ok) {
            let text = telemetry::figures();
            let length = u32::try_from(text.len()).unwrap_or_default();
            let answered = to.write_all(&length.to_be_bytes()).and_then(|()| to.write_all(text.as_bytes()));
            if answered.and_then(|()| to.flush()).is_err() {
                break;
            }
        }
        stop.cancel();
    });
}
