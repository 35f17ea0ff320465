//! Exports: rows of fine-tuning data, in the order of the run or corpus, in the shape that a trainer loads.

pub mod build;
mod bundle;
mod card;
mod columns;
pub mod contents;
mod context;
mod croissant;
mod groups;
pub mod job;
mod metadata;
pub mod order;
mod pairs;
mod part;
mod played;
pub mod preview;
pub mod private;
pub mod profile;
mod records;
mod report;
mod row;
mod source;
mod stream;
mod wanted_rows;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, ensure};
use domain::export::{Profile, Split, Toggles};
use sqlx::PgPool;

pub use crate::room::Room;
use generation::plan::RunConfig;
use part::PartWriter;
use projects::library::Library;
pub use report::WrittenRows;
pub use row::{RowOutcome, rows};
pub use source::{Choice, Source};
use store::runs::Run;

/// Writes a run's rows as canonical JSONL. The file appears whole or not at all.
pub async fn write_jsonl(
    pool: &PgPool,
    run: &Run,
    config: &RunConfig,
    library: &Arc<Library>,
    out: &Path,
    choice: Choice,
) -> anyhow::Result<WrittenRows> {
    let file = beside(out)?;
    let source = Source::of_run(pool, run, config, library, choice).await?;
    let shape = Profile::Canonical.settle(&Toggles::default());
    let shape = shape.ok().context("the canonical profile has defaults")?;
    let to = PartWriter::new(file.reopen()?, &shape, Room::default())?;
    let (to, written) = records::write(pool, &Arc::new(source), shape, Split::Train, to, &mut |_| {}).await?;
    to.finish()?;
    persist(file, out)?;
    Ok(written)
}

/// A file that takes the place of `out` when it is kept, and is gone when it is not.
///
/// # Errors
/// What is no file (a device, a pipe) must not be replaced by one.
pub fn beside(out: &Path) -> anyhow::Result<tempfile::NamedTempFile> {
    ensure!(!out.exists() || out.is_file(), "{} is not a regular file; rows are not written there", out.display());
    let folder = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::NamedTempFile::new_in(folder).with_context(|| format!("cannot write to {}", folder.display()))
}

/// Puts the file in its place. As every temporary file, it can be read by its owner alone.
fn persist(file: tempfile::NamedTempFile, out: &Path) -> anyhow::Result<()> {
    file.persist(out).with_context(|| format!("cannot write {}", out.display()))?;
    Ok(())
}
