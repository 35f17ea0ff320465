//! The text files of a project, wherever they come from.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use domain::bad_input::BadInput;

/// Folders of a project that hold documents.
const ROOTS: [&str; 5] = ["playbooks", "scenarios", "personas", "judges", "workflows"];

/// Path relative to the project, with `/` -> text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Files(BTreeMap<String, String>);

impl Files {
    /// Reads a project's folders.
    pub fn read(project: &Path) -> anyhow::Result<Self> {
        if !Self::is_project(project) {
            let message = "is not a project: it has no folder `playbooks` and no folder `workflows`; run from a project or \
                           name one with --project";
            return Err(BadInput::one(project.display().to_string(), message).into());
        }
        let mut files = BTreeMap::new();
        for root in ROOTS {
            walk(project, &project.join(root), &mut files)?;
        }
        Ok(Self(files))
    }

    /// Whether a folder holds documents to play.
    pub fn is_project(folder: &Path) -> bool {
        ["playbooks", "workflows"].iter().any(|root| folder.join(root).is_dir())
    }

    /// Reads one folder of a project.
    pub fn read_folder(project: &Path, folder: &str) -> anyhow::Result<Self> {
        let mut files = BTreeMap::new();
        walk(project, &project.join(folder), &mut files)?;
        Ok(Self(files))
    }

    pub fn get(&self, path: &str) -> Option<&String> {
        self.0.get(path)
    }

    pub fn insert(&mut self, path: &str, text: String) {
        self.0.insert(path.to_owned(), text);
    }

    pub fn extend(&mut self, texts: impl IntoIterator<Item = (String, String)>) {
        self.0.extend(texts);
    }

    pub fn remove(&mut self, path: &str) {
        self.0.remove(path);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// All of them by path.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &String)> {
        self.0.iter()
    }

    /// Names of the folders directly under `root`.
    pub fn folders(&self, root: &str) -> Vec<String> {
        let mut names: Vec<String> = self
            .under(root)
            .filter_map(|(path, _)| path[root.len() + 1..].split_once('/').map(|(f, _)| f.to_owned()))
            .collect();
        names.dedup();
        names
    }

    /// The files of one folder, named relative to it.
    pub fn within(&self, folder: &str) -> BTreeMap<String, String> {
        self.under(folder).map(|(path, text)| (path[folder.len() + 1..].to_owned(), text.clone())).collect()
    }

    pub fn under<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (&'a String, &'a String)> {
        self.0.iter().filter(move |(path, _)| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
    }

    /// SHA-256 of all paths and texts, in hex: the version of the whole.
    pub fn hash(&self) -> String {
        hash(self.0.iter().flat_map(|(path, text)| [path.as_str(), text.as_str()]))
    }

    /// The version of what stands under a folder, or of one file.
    pub fn version(&self, path: &str) -> String {
        let own = self.0.get(path).map(String::as_str).into_iter();
        let mut version = hash(own.chain(self.under(path).flat_map(|(p, t)| [p.as_str(), t.as_str()])));
        version.truncate(12);
        version
    }
}

impl FromIterator<(String, String)> for Files {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(texts: T) -> Self {
        Self(texts.into_iter().collect())
    }
}

impl IntoIterator for Files {
    type Item = (String, String);
    type IntoIter = std::collections::btree_map::IntoIter<String, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

fn hash<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    use sha2::{Digest, Sha256};
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hex::encode(hasher.finalize())
}

fn walk(project: &Path, dir: &Path, files: &mut BTreeMap<String, String>) -> anyhow::Result<()> {
    if !dir.is_dir() {
        return Ok(());
    }
    for entry in std::fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
            continue;
        }
        if path.is_dir() {
            walk(project, &path, files)?;
            continue;
        }
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {} as UTF-8 text", path.display()))?;
        let relative =
            path.strip_prefix(project)?.components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>();
        files.insert(relative.join("/"), text);
    }
    Ok(())
}
