//! The sub-commands, one file each.

pub mod author;
pub mod backup;
pub mod calibrate;
pub mod connection;
pub mod corpora;
pub mod datasets;
pub mod db;
pub mod episodes;
pub mod export;
pub mod generate;
pub mod indexes;
pub mod interrupts;
mod job_progress;
pub mod jobs;
pub mod judge;
pub mod models;
mod models_file;
pub mod openapi;
pub mod persona;
pub mod play;
pub mod playbook;
pub mod projects;
pub mod reference;
pub mod runs;
pub mod sandbox;
pub mod serve;
mod storage_args;
pub mod sync;
pub mod tokens;
mod tools_file;
pub mod users;
pub mod validate;
pub mod worker;
pub mod workers;
pub mod workflow;

use std::process::ExitCode;

use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use interrupts::Interrupts;

use domain::bad_input::BadInput;
use store::audit;
use store::clock;

/// How a report is written.
#[derive(Clone, Copy, clap::ValueEnum)]
enum ReportFormat {
    /// For people
    Text,
    /// For programs
    Json,
}

/// Exit code of a run whose conversations were all spoiled by others than the agent.
const SPOILED: u8 = 1;
/// Exit code for input that the user must mend.
const BAD_INPUT: u8 = 2;
/// Exit code of a run that was paused or cancelled before its end.
const PAUSED: u8 = 3;
/// Exit code after Ctrl-C, as shells have it.
const INTERRUPTED: u8 = 130;

/// How a command ends that could not do its work.
pub fn failed(error: anyhow::Error) -> anyhow::Result<ExitCode> {
    let problems = error.downcast::<BadInput>()?;
    eprintln!("{problems}");
    Ok(ExitCode::from(BAD_INPUT))
}

/// Waits until somebody asks us to stop. Not for loops: between two waits nobody would hear it.
async fn interrupted() -> std::io::Result<()> {
    Interrupts::listen()?.next().await;
    Ok(())
}

/// Keeps what a command changed in the audit log. The actor is empty: whoever has the machine need not sign in.
async fn record(
    db: &mut PgConnection,
    project_id: Option<Uuid>,
    command: &str,
    subject: &str,
    detail: Value,
) -> anyhow::Result<()> {
    let (action, subject) = (command.to_owned(), subject.to_owned());
    let entry =
        audit::Entry { at: clock::now(), actor: String::new(), token: None, project_id, action, subject, detail };
    Ok(audit::insert(db, &entry).await?)
}
