//! A whole project from outside: an archive, or the folders of somebody's working tree.

use domain::api::documents::Changes;
use domain::project::DocumentId;
use sqlx::PgPool;
use uuid::Uuid;

use super::{Edit, Order, Refused, Saved, save};
use crate::library::Cache;
use crate::library::project::Documents;
use store::documents;

pub struct Replacement<'a> {
    pub project: Uuid,
    pub author: &'a str,
    pub message: &'a str,
    /// Documents that are missing are deleted.
    pub delete: bool,
    /// Keep drafts, whatever is found in them.
    pub drafts: bool,
    pub dry_run: bool,
}

/// Makes new versions of the documents that changed.
///
/// # Errors
/// See [`Refused`]; then nothing was changed.
pub async fn replace(
    pool: &PgPool,
    cache: &Cache,
    given: Documents,
    wanted: &Replacement<'_>,
) -> Result<Saved, Refused> {
    let mut missing = Vec::new();
    if wanted.delete {
        let heads = documents::heads(&mut *pool.acquire().await?, wanted.project).await?.into_iter();
        let there = heads.filter(|(_, head)| !head.deleted).map(|(id, _)| id);
        missing.extend(there.filter(|id| !given.by_id.contains_key(id)));
    }
    let edit = |id: DocumentId, files| Edit { id, files, base: None };
    let kept = given.by_id.into_iter().map(|(id, files)| edit(id, Some(files)));
    let order = Order {
        project: wanted.project,
        author: wanted.author,
        message: wanted.message,
        promote: !wanted.drafts,
        dry_run: wanted.dry_run,
        edits: kept.chain(missing.into_iter().map(|id| edit(id, None))).collect(),
    };
    let saved = save(pool, cache, &order).await?;
    Ok(Saved { changes: Changes { ignored: given.ignored, ..saved.changes }, ..saved })
}
