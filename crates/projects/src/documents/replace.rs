//! A whole project from outside: an archive, or the folders of somebody's working tree.

use std::collections::BTreeMap;

use domain::api::documents::Changes;
use domain::project::DocumentId;
use sandbox::Sandbox;
use sqlx::PgPool;
use uuid::Uuid;

use super::{ChangeRefusal, Edit, Order, SavedChanges, save};
use crate::library::Files;
use crate::library::project::{Documents, Texts};
use store::documents::{self, Head};

pub struct Replacement<'a> {
    pub project: Uuid,
    pub author: &'a str,
    pub message: &'a str,
    pub existing: ExistingDocuments,
    /// Store the documents as drafts, even if they have errors.
    pub drafts: bool,
    pub dry_run: bool,
}

/// What happens to the documents that the project has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingDocuments {
    /// Those that differ get a new version, and those that are not given stay.
    Update,
    /// Those that differ get a new version, and those that are not given are deleted.
    Mirror,
    /// All stay as they are: only what the project does not have is added.
    Keep,
}

/// Makes new versions of the documents that changed.
///
/// # Errors
/// See [`ChangeRefusal`]; then nothing was changed.
pub async fn replace(
    pool: &PgPool,
    sandbox: &Sandbox,
    given: Documents,
    wanted: &Replacement<'_>,
) -> Result<SavedChanges, ChangeRefusal> {
    let heads = documents::heads(&mut *pool.acquire().await?, wanted.project).await?;
    let order = Order {
        project: wanted.project,
        author: wanted.author,
        message: wanted.message,
        promote: !wanted.drafts,
        dry_run: wanted.dry_run,
        edits: edits(given.by_id, &heads, wanted.existing),
    };
    let saved = save(pool, sandbox, &order).await?;
    Ok(SavedChanges { changes: Changes { ignored: given.ignored, ..saved.changes }, ..saved })
}

fn edits(
    given: BTreeMap<DocumentId, Texts>,
    heads: &BTreeMap<DocumentId, Head>,
    existing: ExistingDocuments,
) -> Vec<Edit> {
    let edit = |id, files| Edit { id, files, base: None };
    match existing {
        ExistingDocuments::Update => given.into_iter().map(|(id, files)| edit(id, Some(files))).collect(),
        ExistingDocuments::Mirror => {
            let others = heads.iter().filter(|(id, head)| !head.deleted && !given.contains_key(id));
            let deleted: Vec<_> = others.map(|(id, _)| edit(id.clone(), None)).collect();
            given.into_iter().map(|(id, files)| edit(id, Some(files))).chain(deleted).collect()
        }
        ExistingDocuments::Keep => {
            given.into_iter().filter_map(|(id, files)| missing(heads.get(&id), id, files)).collect()
        }
    }
}

/// Adds a document that the project does not have, or no longer. A draft with the same text is promoted.
fn missing(head: Option<&Head>, id: DocumentId, files: Texts) -> Option<Edit> {
    let base = head.map_or(0, |head| head.version);
    let is_missing = match head {
        Some(head) if !head.deleted => !head.promoted && head.hash == hash(&files),
        _ => true,
    };
    is_missing.then_some(Edit { id, files: Some(files), base: Some(base) })
}

fn hash(files: &Texts) -> String {
    files.iter().map(|(path, text)| (path.clone(), text.clone())).collect::<Files>().hash()
}
