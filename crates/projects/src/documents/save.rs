//! Saving documents: all that was asked for, or nothing.

use std::collections::{BTreeMap, BTreeSet};

use domain::Problem;
use domain::api::documents::{Change, Changes, DocumentChange, DocumentFinding, listed};
use domain::project::DocumentId;
use sandbox::Sandbox;
use sqlx::{PgPool, Postgres, Transaction};
use uuid::Uuid;

use super::{ChangeRefusal, CheckDocuments, ExaminationReport};
use crate::library::Files;
use crate::library::project::{Documents, Texts};
use store::documents::{self, Head, NewVersion};
use store::{clock, storage};

/// One document as it is to be.
#[derive(Debug, Clone)]
pub struct Edit {
    pub id: DocumentId,
    /// All its files; `None` deletes it.
    pub files: Option<Texts>,
    /// The version that it was made from, 0 if there was none; `None`: whatever there is.
    pub base: Option<i32>,
}

pub struct Order<'a> {
    pub project: Uuid,
    pub author: &'a str,
    pub message: &'a str,
    /// Whether it is to be used from now on. What deletes must be.
    pub promote: bool,
    /// Only show what would be done.
    pub dry_run: bool,
    pub edits: Vec<Edit>,
}

/// What was saved, in a transaction that the caller may add to and has to commit.
pub struct SavedChanges {
    pub changes: Changes,
    /// `None` if there is nothing to keep.
    pub tx: Option<Transaction<'static, Postgres>>,
}

/// How often a change is checked anew because others changed documents meanwhile.
const ATTEMPTS: usize = 8;

/// Saves documents in new versions. What is there already makes none.
///
/// No lock is held while documents are checked: if others changed the project meanwhile, it is checked again.
///
/// # Errors
/// See [`ChangeRefusal`]; then nothing was changed.
pub async fn save(pool: &PgPool, sandbox: &Sandbox, order: &Order<'_>) -> Result<SavedChanges, ChangeRefusal> {
    for _ in 0..ATTEMPTS {
        let state = State::read(pool, order.project).await?;
        let planned = plan(&state, order)?;
        let mut changes = Changes {
            unchanged: order.edits.len() - planned.len(),
            dry_run: order.dry_run,
            documents: planned.iter().map(|step| step.to_change(&state, order)).collect(),
            ..Changes::default()
        };
        if planned.is_empty() {
            return Ok(SavedChanges { changes, tx: None });
        }
        let outlook = outlook(sandbox, order.project, &state, &planned).await?;
        if order.promote && !outlook.is_sound() {
            return Err(ChangeRefusal::Unsound(listed(outlook.found)));
        }
        let tx = if order.dry_run { None } else { write_versions(pool, order, &state, &planned, &outlook).await? };
        if order.dry_run || tx.is_some() {
            changes.found = listed(outlook.found);
            return Ok(SavedChanges { changes, tx });
        }
    }
    Err(ChangeRefusal::Busy)
}

/// The documents as they are now.
struct State {
    stamp: (i64, i64),
    heads: BTreeMap<DocumentId, Head>,
    promoted: BTreeMap<DocumentId, Texts>,
}

impl State {
    async fn read(pool: &PgPool, project: Uuid) -> Result<Self, ChangeRefusal> {
        let mut db = pool.acquire().await?;
        // Whatever changes from here on is noticed before anything is kept.
        let stamp = documents::stamp(&mut db, project).await?;
        let heads = documents::heads(&mut db, project).await?;
        Ok(Self { stamp, heads, promoted: documents::promoted(&mut db, project).await? })
    }

    fn head(&self, id: &DocumentId) -> Option<&Head> {
        self.heads.get(id)
    }
}

/// What is done with one document.
struct Step<'a> {
    edit: &'a Edit,
    hash: String,
    /// The draft that is promoted as it is, and no new version.
    promotes: bool,
}

fn plan<'a>(state: &State, order: &'a Order<'_>) -> Result<Vec<Step<'a>>, ChangeRefusal> {
    let mut planned = Vec::new();
    for edit in &order.edits {
        let head = state.head(&edit.id);
        check_base(edit, head)?;
        match &edit.files {
            None if head.is_none_or(|head| head.deleted) => return Err(ChangeRefusal::Missing(edit.id.clone())),
            Some(files) => check_files(&edit.id, files).map_err(ChangeRefusal::Bad)?,
            None => {}
        }
        let hash =
            edit.files.iter().flatten().map(|(path, text)| (path.clone(), text.clone())).collect::<Files>().hash();
        match head {
            Some(head) if head.hash == hash && (head.promoted || !order.promote) => {}
            same => planned.push(Step { edit, promotes: same.is_some_and(|head| head.hash == hash), hash }),
        }
    }
    Ok(planned)
}

fn check_base(edit: &Edit, head: Option<&Head>) -> Result<(), ChangeRefusal> {
    let Some(base) = edit.base else { return Ok(()) };
    let version = head.map_or(0, |head| head.version);
    if base == version || (base == 0 && head.is_some_and(|head| head.deleted)) {
        return Ok(());
    }
    Err(ChangeRefusal::Conflict {
        id: edit.id.clone(),
        version,
        author: head.map(|head| head.author.clone()).unwrap_or_default(),
        at: head.map(|head| head.created_at),
    })
}

fn check_files(id: &DocumentId, files: &Texts) -> Result<(), Vec<Problem>> {
    if files.is_empty() {
        return Err(vec![Problem::new(id.path(None), 0, "", "has no file; to drop a document, delete it")]);
    }
    let documents = Documents::of(files.clone())?;
    let others = documents.by_id.iter().filter(|(other, _)| *other != id).flat_map(|(_, texts)| texts.keys());
    let problem = |path: &String| Problem::new(path, 0, "", format!("is not a file of the {id}"));
    let problems: Vec<Problem> = others.chain(&documents.ignored).map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

async fn outlook(
    sandbox: &Sandbox,
    project: Uuid,
    state: &State,
    planned: &[Step<'_>],
) -> Result<ExaminationReport, ChangeRefusal> {
    let mut after = state.promoted.clone();
    for step in planned {
        match &step.edit.files {
            Some(files) => drop(after.insert(step.edit.id.clone(), files.clone())),
            None => drop(after.remove(&step.edit.id)),
        }
    }
    let before: Files = state.promoted.values().flatten().map(|(path, text)| (path.clone(), text.clone())).collect();
    let changed: BTreeSet<DocumentId> = planned.iter().map(|step| step.edit.id.clone()).collect();
    let after = after.into_values().flatten().collect();
    CheckDocuments { before, after, changed }.within(sandbox, project).await?.map_err(ChangeRefusal::Bad)
}

/// `None` if others changed the documents since they were read.
async fn write_versions(
    pool: &PgPool,
    order: &Order<'_>,
    state: &State,
    planned: &[Step<'_>],
    outlook: &ExaminationReport,
) -> Result<Option<Transaction<'static, Postgres>>, ChangeRefusal> {
    let now = clock::now();
    let mut tx = pool.begin().await?;
    documents::lock(&mut tx, order.project).await?;
    if documents::stamp(&mut tx, order.project).await? != state.stamp {
        return Ok(None);
    }
    let bytes = planned.iter().map(Step::bytes).sum::<usize>();
    if bytes > 0 {
        storage::of_project(&mut tx, order.project).await?.room_for(i64::try_from(bytes).unwrap_or(i64::MAX))?;
    }
    for step in planned {
        let id = &step.edit.id;
        // What one document breaks in others is told with it.
        let findings = if planned.len() == 1 { outlook.found.clone() } else { outlook.of(id) };
        if step.promotes {
            documents::promote(&mut tx, order.project, id, step.version(state), &findings).await?;
            continue;
        }
        let new = NewVersion {
            project: order.project,
            id,
            version: step.version(state),
            files: step.edit.files.as_ref(),
            hash: &step.hash,
            about: &outlook.document_metadata(id),
            message: order.message,
            author: order.author,
            created_at: now,
            findings: &findings,
            promoted: order.promote,
        };
        documents::insert(&mut tx, &new).await?;
    }
    Ok(Some(tx))
}

impl Step<'_> {
    /// The version that the document has when it is done.
    fn version(&self, state: &State) -> i32 {
        state.head(&self.edit.id).map_or(0, |head| head.version) + i32::from(!self.promotes)
    }

    /// Bytes of the new version: deleting takes none, so that it is always possible.
    fn bytes(&self) -> usize {
        let files = self.edit.files.iter().flatten().filter(|_| !self.promotes);
        files.map(|(path, text)| path.len() + text.len()).sum()
    }

    fn to_change(&self, state: &State, order: &Order<'_>) -> DocumentChange {
        let id = &self.edit.id;
        let (none, used) = (Texts::new(), state.promoted.get(id));
        let (before, after) = (used.unwrap_or(&none), self.edit.files.as_ref().unwrap_or(&none));
        let change = match (state.head(id).filter(|head| !head.deleted), &self.edit.files) {
            _ if self.promotes => Change::Promoted,
            (None, _) => Change::Added,
            (_, None) => Change::Deleted,
            _ => Change::Changed,
        };
        DocumentChange {
            kind: id.kind,
            name: id.name.clone(),
            change,
            version: self.version(state),
            promoted: order.promote,
            files: files_changed(before, after),
        }
    }
}

fn files_changed(before: &Texts, after: &Texts) -> BTreeMap<String, Change> {
    let gone = before.keys().filter(|path| !after.contains_key(*path)).map(|path| (path.clone(), Change::Deleted));
    let new = after.iter().filter_map(|(path, text)| match before.get(path) {
        None => Some((path.clone(), Change::Added)),
        Some(old) if old != text => Some((path.clone(), Change::Changed)),
        Some(_) => None,
    });
    gone.chain(new).collect()
}

/// What would be found in a document if it were saved so.
///
/// # Errors
/// Files that cannot be kept, or a database that cannot be asked.
pub async fn check(
    pool: &PgPool,
    sandbox: &Sandbox,
    project: Uuid,
    id: &DocumentId,
    files: Texts,
) -> Result<Vec<DocumentFinding>, ChangeRefusal> {
    check_files(id, &files).map_err(ChangeRefusal::Bad)?;
    let edit = Edit { id: id.clone(), files: Some(files), base: None };
    let step = Step { edit: &edit, hash: String::new(), promotes: false };
    let state = State::read(pool, project).await?;
    Ok(listed(outlook(sandbox, project, &state, &[step]).await?.found))
}
