//! Where an export goes on this machine: a file, a folder or an archive. It appears whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use domain::export::Profile;
use sqlx::PgPool;
use tempfile::TempDir;

use datasets::export::build;
use datasets::export::contents::{ExportFiles, Order};
use datasets::export::{Room, beside};
use domain::bad_input::BadInput;

pub struct Place {
    out: PathBuf,
    as_folder: bool,
    /// Beside the place, so that what is built there need only be renamed.
    workshop: TempDir,
}

impl Place {
    /// Whether something can be written there, which is asked before anything is built.
    ///
    /// # Errors
    /// [`BadInput`] if a folder would have to take the place of something else; or the disk.
    pub fn check(out: &Path, profile: Profile) -> anyhow::Result<Self> {
        let as_folder = profile.is_bundle() && out.extension().is_none_or(|end| end != "zip");
        if as_folder && out.exists() {
            return Err(BadInput::one("--out", format!("{} exists already; name a new folder", out.display())).into());
        }
        if !as_folder {
            drop(beside(out)?);
        }
        let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let workshop = tempfile::Builder::new().prefix(".export").tempdir_in(parent);
        let workshop = workshop.with_context(|| format!("cannot write to {}", parent.display()))?;
        Ok(Self { out: out.to_owned(), as_folder, workshop })
    }

    /// # Errors
    /// Nothing is there then.
    pub async fn fill(self, pool: &PgPool, order: &Order) -> anyhow::Result<ExportFiles> {
        let files = self.workshop.path().join("files");
        let built = build::build(pool, order, &files, &Room::default(), &mut |_| {}).await?;
        if self.as_folder {
            fs::rename(&files, &self.out).with_context(|| format!("cannot write {}", self.out.display()))?;
            return Ok(built);
        }
        let packed = self.workshop.path().join("packed");
        build::pack(order, &built.report, &files, &packed, Room::default())?;
        ensure!(!self.out.is_dir(), "{} is a folder", self.out.display());
        fs::rename(&packed, &self.out).with_context(|| format!("cannot write {}", self.out.display()))?;
        Ok(built)
    }
}
