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
