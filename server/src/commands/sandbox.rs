//! `groundstate sandbox`: a sandboxed process. It is started by servers and players, never by people.

use std::process::ExitCode;

use datasets::dataset::DecodeParquet;

pub fn run() -> anyhow::Result<ExitCode> {
    ::projects::worker().with_streamed::<DecodeParquet>().serve()?;
    Ok(ExitCode::SUCCESS)
}
