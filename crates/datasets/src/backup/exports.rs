//! The files of exports: into a backup, and out of it.

use std::fs::{self, File};
use std::io::{BufReader, Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};
use store::backup::ExportFile;
use tokio::task::spawn_blocking;

use crate::export::{job, private};

/// Those that were copied, and those whose files are missing or damaged.
pub async fn save(
    exports: Vec<ExportFile>,
    files: &Path,
    to: &Path,
) -> anyhow::Result<(Vec<ExportFile>, Vec<ExportFile>)> {
    let (mut copied, mut missing) = (Vec::new(), Vec::new());
    for one in exports {
        let (source, copy) = (job::file(files, one.id), to.join(one.id.to_string()));
        let expected = one.clone();
        let done = spawn_blocking(move || copy_checked(&source, &copy, &expected)).await?;
        if done.is_ok() { copied.push(one) } else { missing.push(one) }
    }
    Ok((copied, missing))
}

/// # Errors
/// The file of one is missing or damaged, or cannot be copied.
pub async fn put_back(exports: &[ExportFile], from: &Path, files: &Path) -> anyhow::Result<()> {
    for one in exports.iter().cloned() {
        let (copy, target) = (from.join(one.id.to_string()), job::file(files, one.id));
        private::folder(target.parent().unwrap_or(files))?;
        spawn_blocking(move || copy_checked(&copy, &target, &one)).await??;
    }
    Ok(())
}

/// # Errors
/// The file is not the one that was made.
fn copy_checked(from: &Path, to: &Path, expected: &ExportFile) -> anyhow::Result<()> {
    let mut source = BufReader::new(File::open(from).with_context(|| format!("cannot read {}", from.display()))?);
    let mut target = private::file(to)?;
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        let read = source.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
        target.write_all(&buffer[..read])?;
    }
    target.sync_all()?;
    if hex::encode(hasher.finalize()) != expected.hash {
        fs::remove_file(to)?;
        bail!("{} is damaged", from.display());
    }
    Ok(())
}
