//! The binary, as people and scripts use it.

mod audited;
mod author;
mod backup;
mod corpora;
mod datasets;
mod documents;
mod episodes;
mod findings;
mod flags;
mod fleet;
mod generate;
mod interrupt;
mod jobs;
mod judge;
mod models;
mod paused;
mod people;
mod playbook;
mod serve;
mod sync;
mod telemetry;
mod validate_review;
mod worker;
mod workflow;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use tokio::process::Command;

use crate::support::{FOLDERS, database_url, project};

/// The program, without what the environment of the tests would tell it.
fn groundstate<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groundstate"));
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    for variable in ["DATABASE_URL", "GROUNDSTATE_DATA", "RUST_LOG"] {
        command.env_remove(variable);
    }
    command
}

/// The output and exit code of a command.
struct CommandOutput {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

async fn said(command: &mut Command) -> CommandOutput {
    let output = command.output().await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    CommandOutput { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// A copy of shipped documents that a test may spoil.
struct Project(TempDir);

impl Project {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in FOLDERS {
            copy(&project().join(folder), &dir.path().join(folder));
        }
        Self(dir)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn join(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }

    /// Replaces the first of a text in a document, which must have it.
    fn edit(&self, document: &str, from: &str, to: &str) {
        let path = self.join(document);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{document} has no `{from}` any more");
        std::fs::write(path, text.replacen(from, to, 1)).unwrap();
    }

    /// The program, started in the project.
    fn groundstate(&self, arguments: &str) -> Command {
        let mut command = groundstate(arguments.split_whitespace());
        command.current_dir(self.path());
        command
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, target) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(path, target).unwrap();
        }
    }
}
