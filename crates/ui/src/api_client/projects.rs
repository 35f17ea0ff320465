//! Projects: what they hold, who is in them, what was changed.

use domain::access::Role;
use domain::api::documents::DocumentSummary;
use domain::api::{
    AuditEntry, ConversationFacets, MemberSummary, Membership, NewProject, Page, PageParams, ProjectSummary,
};
use domain::project::{Kind, PERSONA_MODEL};
use domain::storage::{ProjectStorage, StorageLimits};

use super::{Answer, cut, delete, get, get_with, post, put};
use crate::address::segment;

/// How many there are, or that there are more than were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    pub at_least: usize,
    pub more: bool,
}

/// The first page, or the one after a cursor.
pub async fn list(after: Option<String>) -> Answer<Page<ProjectSummary>> {
    Ok(cut(get("/projects").await?, after))
}

pub async fn create(new: &NewProject) -> Answer<ProjectSummary> {
    post("/projects", new).await
}

/// Documents of a kind. The model of personas is no profile, and does not count.
pub async fn count(project: &str, kind: Kind) -> Answer<Count> {
    let path = format!("/projects/{}/{}", segment(project), kind.folder());
    let page: Page<DocumentSummary> = get_with(&path, &PageParams { limit: Some(200), after: None }).await?;
    let counts = |one: &&DocumentSummary| !(kind == Kind::Persona && one.name == PERSONA_MODEL);
    Ok(Count { at_least: page.items.iter().filter(counts).count(), more: page.next.is_some() })
}

/// What a project takes of the disk, and what it may take.
pub async fn storage(project: &str) -> Answer<ProjectStorage> {
    get(&format!("/projects/{}/storage", segment(project))).await
}

pub async fn set_storage_limits(project: &str, limits: &StorageLimits) -> Answer<ProjectStorage> {
    put(&format!("/projects/{}/storage", segment(project)), limits).await
}

/// How many conversations of each kind there are.
pub async fn conversations(project: &str) -> Answer<ConversationFacets> {
    get(&format!("/projects/{}/conversations/facets", segment(project))).await
}

/// The first page, or the one after a cursor.
pub async fn members(project: &str, after: Option<String>) -> Answer<Page<MemberSummary>> {
    Ok(cut(get(&format!("/projects/{}/members", segment(project))).await?, after))
}

pub async fn set_member(project: &str, user: &str, role: Role) -> Answer<MemberSummary> {
    put(&member(project, user), &Membership { role }).await
}

pub async fn remove_member(project: &str, user: &str) -> Answer<()> {
    delete(&member(project, user)).await
}

/// What was changed, newest first: in a project, or in the whole installation.
pub async fn audit(project: Option<&str>, after: Option<String>) -> Answer<Page<AuditEntry>> {
    let path = project.map_or_else(|| "/audit".to_owned(), |name| format!("/projects/{}/audit", segment(name)));
    get_with(&path, &PageParams::after(after)).await
}

fn member(project: &str, user: &str) -> String {
    format!("/projects/{}/members/{}", segment(project), segment(user))
}
