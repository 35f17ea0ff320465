//! A process that plays, started by another one: by `serve`, so that what is played cannot harm those who use the web app,
//! and by a player, for tasks in quarantine.
//!
//! It is this program's `play`. It lives as long as its standard input is open, so that it never outlives the process that
//! started it, and answers each line there ([`Question`]).

mod quarantine;
mod question;
mod supervision;

use std::ffi::OsString;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

pub use quarantine::watch;
pub use question::{PlayerLink, Question, obey};
pub use supervision::{DATABASE_AWAY, PlayerOrder, supervise};

/// How long a process has for the end, beside what it was told to wait for calls in flight.
const TO_END: Duration = Duration::from_secs(10);
/// How long it may take over an answer.
const TO_ANSWER: Duration = Duration::from_secs(2);
/// Longest answer, in bytes.
const LONGEST_ANSWER: u32 = 16 << 20;

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

    /// `None` if it does not answer.
    pub async fn ask(&mut self, question: Question) -> Option<String> {
        if self.late {
            return None;
        }
        let to = self.to.as_mut()?;
        let from = &mut self.from;
        let ask = async {
            to.write_all(question.line().as_bytes()).await?;
            let length = from.read_u32().await?;
            if length > LONGEST_ANSWER {
                return Err(io::Error::other("its answer is too long"));
            }
            let mut text = vec![0; length as usize];
            from.read_exact(&mut text).await?;
            Ok(String::from_utf8_lossy(&text).into_owned())
        };
        let answered = timeout(TO_ANSWER, ask).await.ok().and_then(io::Result::ok);
        // An answer that comes late would be taken for that to the next question.
        self.late = answered.is_none();
        answered
    }
}
