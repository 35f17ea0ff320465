//! The sub-commands, one file each.

pub mod connection;
pub mod db;
pub mod export;
pub mod generate;
pub mod serve;
pub mod validate;

use tokio::signal::unix::{SignalKind, signal};

/// Waits until somebody asks us to stop: Ctrl-C or SIGTERM.
async fn interrupted() -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed,
        _ = terminate.recv() => Ok(()),
    }
}
