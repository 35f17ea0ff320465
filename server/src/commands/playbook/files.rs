//! The files of a playbook that a command makes: all of them appear, or none.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use domain::Problem;
use rust_embed::RustEmbed;

use domain::bad_input::BadInput;
use projects::shipped::{Judges, Personas};

pub use projects::import::draft::DraftFiles;

/// The id of the first scenario, which has at most 80 letters, begins with the playbook's name.
const LONGEST_NAME: usize = 60;

/// Nothing is overwritten, and nothing is written before everything is known to be fine. `flag` gave the name.
pub fn refuse(flag: &str, name: &str, project: &Path) -> anyhow::Result<()> {
    let mut problems = Vec::new();
    let fits = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !fits {
        let message =
            format!("`{name}` is not a name: expected a lower-case letter, then lower-case letters, digits and `_`");
        problems.push(Problem::new(flag, 0, "", message));
    } else if name.len() > LONGEST_NAME {
        problems.push(Problem::new(flag, 0, "", format!("is {} letters long; at most {LONGEST_NAME}", name.len())));
    } else {
        for folder in ["playbooks", "scenarios"].map(|root| format!("{root}/{name}")) {
            if project.join(&folder).symlink_metadata().is_ok() {
                problems.push(Problem::new(folder, 0, "", "exists already; nothing is overwritten"));
            }
        }
    }
    for folder in ["", "playbooks", "scenarios", "personas", "judges"] {
        let path = project.join(folder);
        if path.exists() && !path.is_dir() {
            let shown = if folder.is_empty() { project.display().to_string() } else { folder.to_owned() };
            problems.push(Problem::new(shown, 0, "", "is not a folder"));
        }
    }
    if project.join("personas").is_dir() && !project.join("personas/model.yaml").is_file() {
        let message = "holds no model.yaml; remove the folder and it will be written";
        problems.push(Problem::new("personas", 0, "", message));
    }
    if problems.is_empty() { Ok(()) } else { bail!(BadInput(problems)) }
}

/// The project's own judge, or the one that will be written.
pub fn judge(project: &Path) -> anyhow::Result<String> {
    let folder = project.join("judges");
    if !folder.exists() || folder.join("default").is_dir() {
        return Ok("default".to_owned());
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.join("judge.yaml").is_file() {
            names.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    let first = names.into_iter().next();
    Ok(first.ok_or_else(|| BadInput::one("judges", "holds no judge; remove the folder and it will be written"))?)
}

/// Personas and judges, where the project has none yet.
pub fn shared(project: &Path) -> anyhow::Result<DraftFiles> {
    let mut made = DraftFiles::new();
    if !project.join("personas").exists() {
        add::<Personas>("personas", &mut made)?;
    }
    if !project.join("judges").exists() {
        add::<Judges>("judges", &mut made)?;
    }
    Ok(made)
}

fn add<E: RustEmbed>(folder: &str, made: &mut DraftFiles) -> anyhow::Result<()> {
    for path in E::iter() {
        made.insert(format!("{folder}/{path}"), text::<E>(&path)?);
    }
    Ok(())
}

pub use projects::shipped::text;

/// Writes into a folder beside the others and renames what is whole. The playbook comes last: where it is, everything
/// is.
pub fn write(project: &Path, name: &str, made: &DraftFiles) -> anyhow::Result<()> {
    fs::create_dir_all(project).with_context(|| format!("cannot make {}", project.display()))?;
    let whole = tempfile::Builder::new().prefix(".new-").tempdir_in(project);
    let whole = whole.with_context(|| format!("cannot write in {}", project.display()))?;
    for (path, text) in made {
        let path = whole.path().join(path);
        let parent = path.parent().unwrap_or(whole.path());
        let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, text));
        written.with_context(|| format!("cannot write {}", path.display()))?;
    }
    let mut moved = Vec::new();
    for part in ["personas".to_owned(), "judges".to_owned(), format!("scenarios/{name}"), format!("playbooks/{name}")] {
        let (from, to) = (whole.path().join(&part), project.join(&part));
        if from.exists() {
            if let Err(fault) = rename(&from, &to) {
                take_back(&moved);
                return Err(fault);
            }
            moved.push(to);
        }
    }
    Ok(())
}

fn rename(from: &Path, to: &Path) -> anyhow::Result<()> {
    if to.symlink_metadata().is_ok() {
        bail!(BadInput::one(to.display().to_string(), "exists already; nothing is overwritten"));
    }
    let parent = to.parent().unwrap_or(Path::new("."));
    let renamed = fs::create_dir_all(parent).and_then(|()| fs::rename(from, to));
    renamed.with_context(|| format!("cannot write {}", to.display()))
}

/// Removes what this command has just written. What cannot be removed does no harm: no playbook refers to it.
fn take_back(moved: &[PathBuf]) {
    for path in moved {
        fs::remove_dir_all(path).ok();
    }
}
