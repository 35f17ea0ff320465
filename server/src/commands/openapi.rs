//! `groundstate openapi`: the document that describes the REST API.

use std::process::ExitCode;

use crate::http;
use crate::output::say;

pub fn run() -> anyhow::Result<ExitCode> {
    say!("{}", serde_json::to_string_pretty(&http::document())?);
    Ok(ExitCode::SUCCESS)
}
