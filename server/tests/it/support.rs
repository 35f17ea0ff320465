//! What the tests share.

pub mod agent;
pub mod endpoint;
pub mod play;

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use server::library::{Files, Library};

/// The repository, which is a project with the shipped documents.
pub fn project() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), ".."].iter().collect()
}

/// The shipped documents. Proving them takes a moment, so the tests of a process share them.
pub fn library() -> Arc<Library> {
    static LIBRARY: LazyLock<Arc<Library>> =
        LazyLock::new(|| Arc::new(Library::assemble(Files::read(&project()).unwrap()).ok().unwrap()));
    Arc::clone(&LIBRARY)
}
