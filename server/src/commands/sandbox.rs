//! `groundstate sandbox`: a sandboxed process. It is started by servers and players, never by people.

use std::process::ExitCode;

pub fn run() -> anyhow::Result<ExitCode> {
    ::projects::worker().serve()?;
    Ok(ExitCode::SUCCESS)
}
