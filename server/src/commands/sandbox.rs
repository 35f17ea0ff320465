//! `groundstate sandbox`: a sandboxed process. It is started by servers and players, never by people.

use std::process::ExitCode;

use projects::documents::sandboxed;

pub fn run() -> anyhow::Result<ExitCode> {
    sandboxed::worker().serve()?;
    Ok(ExitCode::SUCCESS)
}
