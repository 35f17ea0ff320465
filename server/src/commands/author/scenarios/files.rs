//! The folder that scenarios are written into.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use domain::bad_input::BadInput;
use projects::authoring::scenarios::ProvedScenario;

pub struct Folder(PathBuf);

impl Folder {
    pub fn new(path: PathBuf) -> anyhow::Result<Self> {
        if path.exists() && !path.is_dir() {
            bail!(BadInput::one("--out", format!("{} is not a folder", path.display())));
        }
        Ok(Self(path))
    }

    pub fn shown(&self) -> String {
        let path = self.0.strip_prefix(".").unwrap_or(&self.0);
        path.display().to_string()
    }

    pub fn file(&self, kept: &ProvedScenario) -> String {
        format!("{}/{}.yaml", self.shown(), kept.scenario.id)
    }

    /// Names that no new file may have, without `.yaml`.
    pub fn names(&self) -> anyhow::Result<BTreeSet<String>> {
        if !self.0.exists() {
            return Ok(BTreeSet::new());
        }
        let entries = fs::read_dir(&self.0).with_context(|| format!("cannot read {}", self.shown()))?;
        let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        entries.map(|entry| Ok(stem(&entry?.path()).unwrap_or_default())).collect()
    }

    /// A new file: one that is there already, whoever made it meanwhile, is an error.
    pub fn write(&self, kept: &ProvedScenario) -> anyhow::Result<()> {
        let path = self.0.join(format!("{}.yaml", kept.scenario.id));
        let written = fs::create_dir_all(&self.0)
            .and_then(|()| File::create_new(&path))
            .and_then(|mut file| file.write_all(kept.text.as_bytes()));
        written.with_context(|| format!("cannot write {}", path.display()))
    }
}
