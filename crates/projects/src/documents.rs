//! The documents of a project in the database: saved in versions, checked together with all others, promoted when they
//! are sound. The newest promoted version of each is what runs and archives use.

mod change_refusal;
mod diff;
mod document_metadata;
mod examine;
mod replace;
mod save;
pub mod trial;
mod used_by;
pub mod validate;

use std::sync::Arc;

use sqlx::PgPool;
use uuid::Uuid;

pub use change_refusal::ChangeRefusal;
pub use diff::CompareVersions;
pub use examine::{CheckDocuments, ExaminationReport};
pub use replace::{ExistingDocuments, Replacement, replace};
pub use save::{Edit, Order, SavedChanges, check, save};
pub use used_by::used_by;
pub use validate::{counted, found_in};

use crate::library::{Cache, Files, Library};
use domain::bad_input::BadInput;
use store::documents;

/// All files that runs of a project are made from.
pub async fn files(pool: &PgPool, project: Uuid) -> anyhow::Result<Files> {
    let promoted = documents::promoted(&mut *pool.acquire().await?, project).await?;
    Ok(promoted.into_values().flatten().collect())
}

/// The library that a project's runs are made from now.
///
/// # Errors
/// [`BadInput`] with what the project still lacks.
pub async fn library(pool: &PgPool, cache: &Cache, project: Uuid) -> anyhow::Result<Arc<Library>> {
    let stamp = documents::stamp(&mut *pool.acquire().await?, project).await?;
    library_at(pool, cache, project, stamp).await
}

/// Like [`library`], if the stamp of the documents was read just now: what is read after it is this or newer, and what is newer has
/// another stamp.
///
/// # Errors
/// As of [`library`].
pub async fn library_at(
    pool: &PgPool,
    cache: &Cache,
    project: Uuid,
    stamp: (i64, i64),
) -> anyhow::Result<Arc<Library>> {
    if let Some(known) = cache.of_project(project, stamp) {
        return Ok(known);
    }
    let files = files(pool, project).await?;
    if files.is_empty() {
        let message = "the project has no documents yet; upload an archive, or use `groundstate sync --push`";
        return Err(BadInput::one("documents", message).into());
    }
    let library = cache.assemble(files).await?.map_err(BadInput)?;
    cache.note_project(project, stamp, &library.files.hash());
    Ok(library)
}
