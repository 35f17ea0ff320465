//! The folders of a project: read, and written so that nothing is half there.

use std::fs;
use std::path::Path;

use anyhow::Context;
use domain::api::documents::Change;

use super::compare::Difference;
use domain::bad_input::BadInput;
use projects::library::Files;
use projects::library::project::Documents;

/// # Errors
/// The folder is not a project, unless it may become one, or has files that cannot be kept.
pub fn read(project: &Path, may_be_new: bool) -> anyhow::Result<Documents> {
    if may_be_new && !Files::is_project(project) {
        return Ok(Documents::default());
    }
    Ok(Documents::of(Files::read(project)?).map_err(BadInput)?)
}

/// Makes the files that differ like those of the other side. All of them are written beside the project's before the
/// first is put in its place. Says how many were written and removed.
pub fn write(
    project: &Path,
    files: &Files,
    differences: &[Difference],
    delete: bool,
) -> anyhow::Result<(usize, usize)> {
    fs::create_dir_all(project).with_context(|| format!("cannot make {}", project.display()))?;
    let beside = tempfile::Builder::new().prefix(".sync-").tempdir_in(project);
    let beside = beside.with_context(|| format!("cannot write in {}", project.display()))?;
    let new: Vec<(&str, &String)> = differences
        .iter()
        .filter_map(|difference| Some((difference.path.as_str(), files.get(&difference.path)?)))
        .collect();
    for (path, text) in &new {
        put(&beside.path().join(path), |path| fs::write(path, text))?;
    }
    for (path, _) in &new {
        put(&project.join(path), |to| fs::rename(beside.path().join(path), to))?;
    }
    let gone: Vec<&Difference> =
        differences.iter().filter(|difference| delete && difference.change == Change::Deleted).collect();
    for difference in &gone {
        let path = project.join(&difference.path);
        fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        // Its folder goes with its last file; one that is not empty stays.
        path.ancestors().skip(1).take_while(|folder| *folder != project).find(|folder| fs::remove_dir(folder).is_err());
    }
    Ok((new.len(), gone.len()))
}

fn put(path: &Path, write: impl FnOnce(&Path) -> std::io::Result<()>) -> anyhow::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(parent).and_then(|()| write(path));
    written.with_context(|| format!("cannot write {}", path.display()))
}
