//! What the benchmarks stand on: the retail backend of the conformance set, with its recorded world of 1.5 MB, and the
//! documents of a project to play.

mod episode_load;
pub mod machine;
mod project;
pub mod rows;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use engine::playbook::{Playbook, Sources, compile};
use engine::{InitialWorld, World};
use serde_json::Value;

pub use episode_load::EpisodeLoad;
pub use project::{Lines, Project};

/// The playbook and its initial world; `None` where the recordings are not beside the repository.
pub fn retail() -> Option<(Playbook, InitialWorld)> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    let world = recordings(repository)?.join("world.json.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(fs::File::open(world).ok()?).read_to_string(&mut text).ok()?;
    let world: Value = serde_json::from_str(&text).ok()?;
    Some((playbook(repository)?, World::new(&world).into()))
}

fn recordings(repository: &Path) -> Option<PathBuf> {
    let beside = repository.parent()?.join("shared");
    let shared = std::env::var_os("GROUNDSTATE_SHARED").map_or(beside, PathBuf::from);
    Some(shared.join("conformance/tau2_retail")).filter(|folder| folder.is_dir())
}

fn playbook(repository: &Path) -> Option<Playbook> {
    let folder = repository.join("crates/engine/tests/conformance/tau2_retail");
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).ok()? {
        let path = entry.ok()?.path();
        files.insert(path.file_name()?.to_str()?.to_owned(), fs::read_to_string(&path).ok()?);
    }
    compile(&Sources { folder: "tau2_retail", files: &files }).ok()
}

/// Resident memory of this process in bytes.
pub fn resident() -> u64 {
    const PAGE: u64 = 4096;
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or_default() * PAGE
}

/// The receipt that a text names. Receipts have other numbers in each conversation, and agents repeat them.
pub fn receipt(text: &str) -> Option<&str> {
    let start = text.find("rec_")?;
    let length = text[start + 4..].bytes().take_while(u8::is_ascii_alphanumeric).count();
    Some(&text[start..start + 4 + length])
}
