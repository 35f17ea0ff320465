//! Being asked to stop: Ctrl-C, or SIGTERM.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Hears from when it is made on: what comes while nobody waits is heard by whoever waits next.
pub struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
}

impl Interrupts {
    pub fn listen() -> std::io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits until somebody asks.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustix::process::{Signal, getpid, kill_process};

    use super::*;

    #[tokio::test]
    async fn what_comes_while_nobody_waits_is_heard() {
        let mut interrupts = Interrupts::listen().unwrap();
        for signal in [Signal::INT, Signal::TERM] {
            kill_process(getpid(), signal).unwrap();
            // Others have their turn meanwhile, and nobody waits for it.
            tokio::time::sleep(Duration::from_millis(50)).await;
            tokio::time::timeout(Duration::from_mins(1), interrupts.next()).await.unwrap();
        }
    }
}
