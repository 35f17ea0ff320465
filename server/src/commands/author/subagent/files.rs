//! Writing the files of a sub-agent: all of them, or none.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;

use projects::authoring::sub_agent::SubAgentDraft;
use projects::library::Files;

/// New files first: nothing refers to them until the others are changed. What was done is undone when a step fails.
pub fn write(folder: &Path, before: &Files, drafted: &SubAgentDraft) -> anyhow::Result<()> {
    let mut done = UndoLog { made: Vec::new(), changed: Vec::new() };
    let written = try_write(folder, before, drafted, &mut done);
    if written.is_err() {
        done.undo();
    }
    written
}

/// The changes that a failure has to undo.
struct UndoLog<'a> {
    made: Vec<PathBuf>,
    /// With the text that was there.
    changed: Vec<(PathBuf, &'a str)>,
}

impl UndoLog<'_> {
    /// What cannot be undone either is not worth a second error.
    fn undo(&self) {
        for (path, text) in &self.changed {
            fs::write(path, text).ok();
        }
        for path in &self.made {
            fs::remove_file(path).ok();
        }
    }
}

fn try_write<'a>(
    folder: &Path,
    before: &'a Files,
    drafted: &SubAgentDraft,
    done: &mut UndoLog<'a>,
) -> anyhow::Result<()> {
    for (path, text) in &drafted.new {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        let file = fs::create_dir_all(parent).and_then(|()| File::create_new(&path));
        let mut file = file.with_context(|| format!("cannot write {}", path.display()))?;
        done.made.push(path.clone());
        file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    }
    for (path, text) in &drafted.changed {
        let old = before.get(path).map_or("", String::as_str);
        let path = folder.join(path);
        done.changed.push((path.clone(), old));
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
