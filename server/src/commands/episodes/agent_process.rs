//! The command that is the agent of an episode, with all that it starts in turn.

use std::io::{self, stderr};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};
use tokio::time::timeout;

pub struct AgentProcess {
    child: Child,
    group: Option<Pid>,
}

impl AgentProcess {
    /// # Errors
    /// The command cannot be started.
    pub fn start(mut command: Command) -> io::Result<Self> {
        let child = command.stdin(Stdio::null()).stdout(stderr()).stderr(stderr()).process_group(0).spawn()?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Ok(Self { child, group })
    }

    /// Why the command does not come to a good end, if so.
    pub async fn trouble(mut self, patience: Duration) -> io::Result<Option<String>> {
        Ok(match timeout(patience, self.child.wait()).await {
            Ok(ended) => {
                let status = ended?;
                (!status.success()).then(|| format!("the command ended with {status}"))
            }
            Err(_) => Some(format!("the command was stopped after {} seconds", patience.as_secs())),
        })
    }
}

/// Whatever is left of it plays no other episode.
impl Drop for AgentProcess {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            // It may have ended already.
            kill_process_group(group, Signal::KILL).ok();
        }
    }
}
