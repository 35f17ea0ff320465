//! Makes a database cluster with an empty database in it.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::account::Account;
use crate::error::PathContext;
use crate::files::Files;
use crate::postmaster::Settings;
use crate::{Error, Result};

/// The name of our database and of the only user, who needs no password: see [`Files::home`].
pub const NAME: &str = "groundstate";

// Text sorts by code point everywhere alike; only Linux can be relied on to know upper and lower case with it.
const LOCALE: &str = if cfg!(target_os = "linux") { "C.UTF-8" } else { "C" };

/// The cluster is made beside its place and then moved there, so that an interrupted attempt leaves nothing behind.
pub fn initdb(bin: &Path, files: &Files, account: &Account, settings: &Settings) -> Result<()> {
    let unfinished = files.home.join("data.new");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).at("remove", &unfinished)?;
    }
    let mut initdb = account.command(bin.join("initdb"));
    initdb.arg("-D").arg(&unfinished).args(["-U", NAME, "--encoding=UTF8", "--auth-local=trust", "--auth-host=reject"]);
    initdb.arg(format!("--locale={LOCALE}")).args(["--no-sync", "--no-instructions"]);
    run(initdb, files, "")?;

    // Single-user mode needs no running server and no client program.
    let mut single = account.command(bin.join("postgres"));
    single.arg("--single").arg("-D").arg(&unfinished).arg("postgres");
    run(single, files, &format!("CREATE DATABASE {NAME};\n"))?;

    if settings.durable {
        let mut sync = account.command(bin.join("initdb"));
        sync.arg("--sync-only").arg("-D").arg(&unfinished);
        run(sync, files, "")?;
    }
    fs::rename(&unfinished, files.cluster()).at("rename", &unfinished)
}

fn run(mut command: Command, files: &Files, input: &str) -> Result<()> {
    let program = command.get_program().to_owned();
    command.current_dir(&files.home).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = feed(command, input).at("run", program)?;
    if output.status.success() {
        return Ok(());
    }
    let output = [output.stdout, output.stderr].concat();
    Err(Error::Initdb { output: String::from_utf8_lossy(&output).into_owned() })
}

fn feed(mut command: Command, input: &str) -> std::io::Result<Output> {
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    child.wait_with_output()
}
