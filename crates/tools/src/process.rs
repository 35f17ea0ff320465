//! An MCP server that we start ourselves, and end.
//!
//! The crate `rmcp` can start processes, too, but ends them from a task that may never run when the program is about to
//! exit, and not what they started in turn; `npx` starts the server as a child of its own.

use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use domain::text;

/// How much is kept of what a server wrote, in bytes.
const KEPT: usize = 400;
/// Longest line of a server: a message is one line, and is kept until its end.
const LONGEST_LINE: usize = 16 << 20;
/// How long a server may take to end by itself, once nobody talks to it.
const PATIENCE: Duration = Duration::from_millis(500);
/// And how long once it was asked to.
const LAST_PATIENCE: Duration = Duration::from_secs(5);

pub struct Process {
    child: Child,
    group: Option<Pid>,
    written: SharedBytes,
    complained: SharedBytes,
    listening: JoinHandle<()>,
}

/// The first bytes of a stream, or the last.
type SharedBytes = Arc<Mutex<Vec<u8>>>;

impl Process {
    /// # Errors
    /// The command cannot be started.
    pub fn start(mut command: Command) -> Result<(Self, (RecordedOutput, ChildStdin)), String> {
        let piped = Stdio::piped;
        command.stdin(piped()).stdout(piped()).stderr(piped()).process_group(0).kill_on_drop(true);
        let mut child = command.spawn().map_err(|fault| {
            let name = command.as_std().get_program().to_string_lossy().into_owned();
            format!("`{}` cannot be started: {fault}", text::line(&name))
        })?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(complaints)) = streams else {
            return Err("has no standard input and output".to_owned());
        };
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let (written, complained) = (SharedBytes::default(), SharedBytes::default());
        let listening = tokio::spawn(keep_last(complaints, Arc::clone(&complained)));
        let output = RecordedOutput { output, first: Arc::clone(&written), line: 0 };
        Ok((Self { child, group, written, complained, listening }, (output, input)))
    }

    /// That the process is no more, if so. It may still be about to end when it has closed its output.
    pub async fn ended(&mut self) -> Option<ExitStatus> {
        let status = tokio::time::timeout(PATIENCE, self.child.wait()).await.ok()?.ok()?;
        tokio::time::timeout(PATIENCE, &mut self.listening).await.ok();
        Some(status)
    }

    /// Gives it time to end, then asks it to, and then ends it.
    pub async fn end(mut self) {
        if tokio::time::timeout(PATIENCE, self.child.wait()).await.is_err() {
            if let Some(group) = self.group {
                kill_process_group(group, Signal::TERM).ok();
            }
            // `docker` asks its container, which may take some seconds.
            tokio::time::timeout(LAST_PATIENCE, self.child.wait()).await.ok();
        }
    }

    /// Why the conversation failed, with what the process itself has to say.
    pub fn overheard(&self, why: String) -> String {
        let mut parts = vec![why];
        let written = kept(&self.written);
        if let Some(first) = written.lines().next().filter(|first| !first.starts_with('{')) {
            parts.push(format!("it wrote `{}`, which is not an MCP message", text::line(first)));
        }
        if let Some(last) = kept(&self.complained).lines().rfind(|line| !line.trim().is_empty()) {
            parts.push(format!("it said: {}", text::line(last)));
        }
        parts.join("; ")
    }
}

/// The process, and all that it has started in turn.
impl Drop for Process {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            // It may have ended already.
            kill_process_group(group, Signal::KILL).ok();
        }
    }
}

/// The output of a process, with a copy of its beginning.
pub struct RecordedOutput {
    output: ChildStdout,
    first: SharedBytes,
    /// Bytes since the last end of a line.
    line: usize,
}

impl AsyncRead for RecordedOutput {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.output).poll_read(cx, buf);
        let read = &buf.filled()[before..];
        {
            let mut first = self.first.lock();
            let room = KEPT.saturating_sub(first.len());
            first.extend(read.iter().take(room));
        }
        self.line = read.iter().rev().position(|byte| *byte == b'\n').unwrap_or(self.line + read.len());
        if self.line > LONGEST_LINE {
            return Poll::Ready(Err(std::io::Error::other("a message has no end")));
        }
        polled
    }
}

/// Reads to the end: a process stops when nobody takes what it writes.
async fn keep_last(mut stream: ChildStderr, last: SharedBytes) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        let mut last = last.lock();
        last.extend(&buffer[..read]);
        let surplus = last.len().saturating_sub(KEPT);
        last.drain(..surplus);
    }
}

fn kept(kept: &SharedBytes) -> String {
    String::from_utf8_lossy(&kept.lock()).trim().to_owned()
}
