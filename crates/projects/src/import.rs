//! Interfaces that are there already, read as drafts of playbooks.

pub mod draft;
pub mod imported_interface;
pub mod mcp;
pub mod openai;
pub mod openapi;
mod read;
mod schema;
mod stub;

use domain::Problem;
use engine::playbook::Sources;
use engine::playbook::check::{self, Severity};

use draft::DraftFiles;
pub use read::ReadInterface;

/// What `playbook check` would refuse in a draft: such a draft helps nobody.
pub fn faults(made: &DraftFiles, name: &str) -> Vec<Problem> {
    let folder = format!("playbooks/{name}");
    let own = made.iter().filter_map(|(path, text)| Some((path.strip_prefix(&folder)?.strip_prefix('/')?, text)));
    let own = own.map(|(path, text)| (path.to_owned(), text.clone())).collect();
    let found = check::files(&Sources { folder: &folder, files: &own }, &[]);
    found.into_iter().filter(|(severity, _)| *severity == Severity::Error).map(|(_, problem)| problem).collect()
}
