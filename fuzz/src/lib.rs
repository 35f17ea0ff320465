//! What the fuzz targets share: the project into which they put what the fuzzer makes up, and a stack like the sandbox's.
//!
//! A target calls what the server calls in its sandboxed processes. It finds panics, hangs and memory that grows without
//! bound. The sandbox would end the process for each of them, but an author should get an answer instead.

#![expect(clippy::expect_used, reason = "a panic is what the fuzzer looks for")]

use std::sync::LazyLock;
use std::thread;

use domain::project::DocumentId;
use projects::library::Files;
use projects::shipped;
use sandbox::Work;

/// The playbook of the small project.
pub const PLAYBOOK: &str = "crm_assistant";
/// A scenario of it.
pub const SCENARIO: &str = "book_board_meeting_with_coffee";
/// The workflow of the small project.
pub const WORKFLOW: &str = "factool";

/// One shipped playbook with one scenario, one workflow, all personas and judges: a check takes milliseconds.
static PROJECT: LazyLock<Files> = LazyLock::new(|| {
    let mut project = Files::default();
    for (path, text) in shipped::files().expect("the documents that ship are text").iter() {
        let is_wanted = match path.split('/').collect::<Vec<_>>().as_slice() {
            ["playbooks", playbook, ..] => *playbook == PLAYBOOK,
            ["workflows", workflow, ..] => *workflow == WORKFLOW,
            ["scenarios", .., file] => file.strip_suffix(".yaml") == Some(SCENARIO),
            _ => true,
        };
        if is_wanted {
            project.insert(path, text.clone());
        }
    }
    project
});

pub fn project() -> Files {
    PROJECT.clone()
}

/// The input as a path and the text of that file: the path is the first line. `None` if no document has such a file.
pub fn file(input: &[u8]) -> Option<(&str, &str, DocumentId)> {
    let (path, text) = str::from_utf8(input).ok()?.split_once('\n')?;
    Some((path, text, DocumentId::of(path).ok()?))
}

/// Does work as a sandboxed process does it, on a stack of the same size.
pub fn work<W: Work>(work: W) -> W::Answer {
    on_stack(|| work.work(&|_| {}))
}

/// # Panics
/// If `call` does.
pub fn on_stack<T: Send>(call: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(sandbox::STACK).spawn_scoped(scope, call);
        // The fuzzer ends the process at a panic, before this is reached.
        thread.expect("a thread").join().expect("no panic")
    })
}
