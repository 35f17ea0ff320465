//! One sandboxed process, as whoever uses it sees it.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::Signal;
use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::frame::{self, Kind};
use crate::limits::{LARGEST_ANSWER, LARGEST_READ, Limit, Limits, PIECES_PER_PROCESS};
use crate::stream::{self, Host, StreamedWork};
use crate::{Failure, Work};

/// How much is kept of what a process says before it ends.
const LAST_WORDS: usize = 4 << 10;
/// How long to wait for them after it ended.
const LAST_WORDS_TIMEOUT: Duration = Duration::from_secs(5);

pub struct Process {
    /// Killed when it is dropped.
    child: Child,
    to: ChildStdin,
    from: ChildStdout,
    said: Arc<Mutex<Vec<u8>>>,
    /// Ends when all is read that the process said.
    listener: JoinHandle<()>,
    pieces: usize,
}

impl Process {
    /// It inherits no variable: keys and addresses of databases are none of its business.
    pub fn start(program: &Path) -> io::Result<Self> {
        let mut child = Command::new(program)
            .arg("sandbox")
            .env_clear()
            // Else the allocator takes all of the address space at once.
            .env("MIMALLOC_ARENA_RESERVE", "65536")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let lost = || io::Error::other("a pipe to a sandboxed process is missing");
        let (to, from) = (child.stdin.take().ok_or_else(lost)?, child.stdout.take().ok_or_else(lost)?);
        let said = Arc::<Mutex<Vec<u8>>>::default();
        let listener = tokio::spawn(listen(child.stderr.take().ok_or_else(lost)?, Arc::clone(&said)));
        Ok(Self { child, to, from, said, listener, pieces: 0 })
    }

    /// Whether it may do more.
    pub const fn is_fresh(&self) -> bool {
        self.pieces < PIECES_PER_PROCESS
    }

    pub async fn run<W: Work>(&mut self, given: &[u8], heard: &(dyn Fn(Value) + Sync)) -> Result<Vec<u8>, Failure> {
        self.pieces += 1;
        let Limits { wall, cpu } = W::LIMITS;
        match timeout(wall, self.exchange(W::NAME, given, heard)).await {
            Err(_) => Err(Failure::Exceeded(Limit::Wall(wall))),
            Ok(Ok(Some((Kind::Answer, answer)))) => Ok(answer),
            Ok(Ok(Some((_, why)))) => Err(Failure::Broken(String::from_utf8_lossy(&why).into_owned())),
            Ok(Ok(None)) => Err(Failure::Exceeded(Limit::Answer)),
            Ok(Err(error)) => Err(self.ended(&error, cpu).await),
        }
    }

    async fn exchange(
        &mut self,
        name: &str,
        given: &[u8],
        heard: &(dyn Fn(Value) + Sync),
    ) -> io::Result<Option<(Kind, Vec<u8>)>> {
        frame::send(&mut self.to, Kind::Name, name.as_bytes()).await?;
        frame::send(&mut self.to, Kind::Given, given).await?;
        loop {
            match frame::receive(&mut self.from, LARGEST_ANSWER).await? {
                Some((Kind::Progress, value)) => heard(serde_json::from_slice(&value)?),
                answer => return Ok(answer),
            }
        }
    }

    /// Does streamed work. The time on the clock counts while the process is waited for, and not while its owner is.
    pub async fn stream<W: StreamedWork>(&mut self, given: &[u8], host: &mut impl Host) -> Result<Vec<u8>, Failure> {
        self.pieces += 1;
        let Limits { wall, cpu } = W::LIMITS;
        let broken = |error: io::Error| Failure::Broken(error.to_string());
        let mut told = frame::send(&mut self.to, Kind::Name, W::NAME.as_bytes()).await;
        if told.is_ok() {
            told = frame::send(&mut self.to, Kind::Given, given).await;
        }
        loop {
            if let Err(error) = told {
                return Err(self.ended(&error, cpu).await);
            }
            let received = match timeout(wall, frame::receive(&mut self.from, LARGEST_ANSWER)).await {
                Err(_) => return Err(Failure::Exceeded(Limit::Wall(wall))),
                Ok(Ok(received)) => received,
                Ok(Err(error)) => return Err(self.ended(&error, cpu).await),
            };
            told = match received {
                Some((Kind::Read, place)) => {
                    let (start, length) = stream::asked(&place).map_err(broken)?;
                    // Files say how much of them is to be read.
                    if length > LARGEST_READ {
                        return Err(Failure::Exceeded(Limit::Memory));
                    }
                    match host.read(start, length).await {
                        Ok(bytes) => frame::send(&mut self.to, Kind::Bytes, &bytes).await,
                        Err(error) => frame::send(&mut self.to, Kind::Unread, error.to_string().as_bytes()).await,
                    }
                }
                Some((Kind::Piece, piece)) => {
                    host.take(piece).await.map_err(broken)?;
                    Ok(())
                }
                Some((Kind::Progress, _)) => Ok(()),
                Some((Kind::Answer, answer)) => return Ok(answer),
                Some((_, why)) => return Err(Failure::Broken(String::from_utf8_lossy(&why).into_owned())),
                None => return Err(Failure::Exceeded(Limit::Answer)),
            };
        }
    }

    /// Why the process is gone.
    async fn ended(&mut self, error: &io::Error, cpu: Duration) -> Failure {
        let Ok(Ok(status)) = timeout(LAST_WORDS_TIMEOUT, self.child.wait()).await else {
            return Failure::Broken(error.to_string());
        };
        // A process can be gone before its last words are read, and they say which limit it was.
        let _ = timeout(LAST_WORDS_TIMEOUT, &mut self.listener).await;
        let said = String::from_utf8_lossy(&self.said.lock()).into_owned();
        match limit_of(status, &said, cpu) {
            Some(limit) => Failure::Exceeded(limit),
            None => Failure::Broken(format!("a sandboxed process ended: {status}; {said}")),
        }
    }
}

/// The runtime of Rust says on standard error why it aborts.
fn limit_of(status: ExitStatus, said: &str, cpu: Duration) -> Option<Limit> {
    let by = |signal: Signal| status.signal() == Some(signal.as_raw());
    if by(Signal::XCPU) {
        Some(Limit::Cpu(cpu))
    } else if said.contains("overflowed its stack") || by(Signal::SEGV) {
        Some(Limit::Stack)
    // The system kills the process that uses most when memory runs out.
    } else if said.contains("memory allocation of") || by(Signal::KILL) {
        Some(Limit::Memory)
    } else {
        None
    }
}

async fn listen(mut from: ChildStderr, said: Arc<Mutex<Vec<u8>>>) {
    let mut bytes = [0; 1024];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        let mut said = said.lock();
        said.extend_from_slice(&bytes[..read]);
        let over = said.len().saturating_sub(LAST_WORDS);
        said.drain(..over);
    }
}
