//! Drafts of playbooks from interfaces that are there already. Bad input first.

mod mcp;
mod openapi;

use std::path::Path;

use tempfile::TempDir;
use tokio::process::Command;

use crate::cli::{CommandOutput, groundstate, said};

/// An empty folder, for the project that a draft makes.
fn empty() -> TempDir {
    tempfile::tempdir().unwrap()
}

async fn import(dir: &Path, arguments: &[&str]) -> CommandOutput {
    let mut command: Command = groundstate(["playbook", "import"].iter().chain(arguments));
    said(command.current_dir(dir)).await
}

/// What is said of input that is refused, and that nothing was written.
async fn refused(dir: &Path, arguments: &[&str]) -> String {
    let before = names(dir);
    let said = import(dir, arguments).await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.stderr);
    assert_eq!(names(dir), before, "nothing is written");
    said.stderr
}

fn names(dir: &Path) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

/// The draft loads: `check` finds no error, its scenario is proved, and a tool shows its prompt.
async fn sound(dir: &Path, name: &str, tool: &str, arguments: &str) -> String {
    let run = async |arguments: &[&str]| said(groundstate(arguments).current_dir(dir)).await;
    let checked = run(&["playbook", "check", name]).await;
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""), "{}", checked.stdout);
    assert!(checked.stdout.contains(": 0 errors, "), "{}", checked.stdout);
    let validated = run(&["validate"]).await;
    assert_eq!((validated.code, validated.stderr.as_str()), (Some(0), ""));
    let tried = run(&["playbook", "try", tool, "--playbook", name, "--args", arguments]).await;
    assert_eq!((tried.code, tried.stderr.as_str()), (Some(0), ""), "{}", tried.stdout);
    assert!(tried.stdout.contains("which would read:"), "{}", tried.stdout);
    tried.stdout
}
