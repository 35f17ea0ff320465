//! `groundstate playbook new`: a playbook to start from.

use crate::say::say;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use domain::Problem;
use rust_embed::RustEmbed;

use super::Project;
use crate::bad_input::BadInput;

/// With `PLAYBOOK_NAME` and `JUDGE_NAME` where the names go.
#[derive(RustEmbed)]
#[folder = "scaffold"]
struct Scaffold;

#[derive(RustEmbed)]
#[folder = "../personas"]
struct Personas;

#[derive(RustEmbed)]
#[folder = "../judges"]
struct Judges;

/// The id of the first scenario, which has at most 80 letters, begins with the playbook's name.
const LONGEST_NAME: usize = 60;

#[derive(clap::Args)]
pub struct New {
    /// Name of the new playbook: lower-case letters, digits and `_`
    name: String,
    #[command(flatten)]
    project: Project,
}

pub fn run(args: &New) -> anyhow::Result<ExitCode> {
    let (name, project) = (args.name.as_str(), args.project.folder.as_path());
    refuse(name, project)?;
    let judge = judge(project)?;
    let filled = |text: &str| text.replace("PLAYBOOK_NAME", name).replace("JUDGE_NAME", &judge);
    let mut files = Vec::new();
    for path in Scaffold::iter() {
        let target = match path.split_once('/') {
            Some(("playbook", file)) => format!("playbooks/{name}/{file}"),
            Some((folder, file)) => format!("{folder}/{name}/{file}"),
            None => continue,
        };
        files.push((target, filled(&text::<Scaffold>(&path)?)));
    }
    if !project.join("personas").exists() {
        add::<Personas>("personas", &mut files)?;
    }
    if !project.join("judges").exists() {
        add::<Judges>("judges", &mut files)?;
    }
    files.sort();
    for (path, text) in &files {
        write(&project.join(path), text)?;
        say!("wrote {path}");
    }
    say!("{}", next_steps(name, project));
    Ok(ExitCode::SUCCESS)
}

/// Nothing is overwritten, and nothing is written before everything is known to be fine.
fn refuse(name: &str, project: &Path) -> anyhow::Result<()> {
    let mut problems = Vec::new();
    let fits = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !fits {
        let message =
            format!("`{name}` is no name: expected a lower-case letter, then lower-case letters, digits and `_`");
        problems.push(Problem::new("NAME", 0, "", message));
    } else if name.len() > LONGEST_NAME {
        problems.push(Problem::new("NAME", 0, "", format!("is {} letters long; at most {LONGEST_NAME}", name.len())));
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
            problems.push(Problem::new(shown, 0, "", "is no folder"));
        }
    }
    if project.join("personas").is_dir() && !project.join("personas/model.yaml").is_file() {
        let message = "holds no model.yaml; remove the folder and it will be written";
        problems.push(Problem::new("personas", 0, "", message));
    }
    if problems.is_empty() { Ok(()) } else { bail!(BadInput(problems)) }
}

/// The project's own judge, or the one that will be written.
fn judge(project: &Path) -> anyhow::Result<String> {
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

fn add<E: RustEmbed>(folder: &str, files: &mut Vec<(String, String)>) -> anyhow::Result<()> {
    for path in E::iter() {
        files.push((format!("{folder}/{path}"), text::<E>(&path)?));
    }
    Ok(())
}

fn text<E: RustEmbed>(path: &str) -> anyhow::Result<String> {
    let file = E::get(path).with_context(|| format!("{path} is not embedded"))?;
    Ok(String::from_utf8(file.data.into_owned())?)
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let create = || {
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        fs::File::create_new(path)?.write_all(text.as_bytes())
    };
    create().with_context(|| format!("cannot write {}", path.display()))
}

fn next_steps(name: &str, project: &Path) -> String {
    let flag = if project == Path::new(".") { String::new() } else { format!(" --project {}", project.display()) };
    format!(
        "
It can be played as it is. Try:
  groundstate validate{flag}
  groundstate playbook try get_order --playbook {name}{flag} --args '{{\"order_id\": \"ord_1001\"}}'
  groundstate generate --playbook {name}{flag} --n 4
Then change playbooks/{name} and scenarios/{name}, and after each change:
  groundstate playbook check {name}{flag}"
    )
}
