//! Documents of a project: playbooks, scenarios, personas, judges.

use domain::api::documents::{
    Changes, DeletionParams, DiffParams, Document, DocumentDiff, DocumentFinding, DocumentListParams, DocumentSummary,
    DocumentVersion, NewValidation, Promotion, Restoration, SaveDocument, SchemaKind, UsedBy, ValidationDetail,
    ValidationSummary,
};
use domain::api::{Page, PageParams};
use domain::progress::JobProgress;
use domain::project::{DocumentId, Kind};
use gloo_net::http::Method;
use serde_json::Value;

use super::{AbortSignal, Answer, NO_BODY, change_abortable, events, get, get_with, post_abortable, with_params};
use crate::address::segment;

/// A document, and the project that it is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentRef {
    pub project: String,
    pub id: DocumentId,
}

impl DocumentRef {
    pub fn new(project: String, kind: Kind, name: String) -> Self {
        Self { project, id: DocumentId { kind, name } }
    }

    fn path(&self, below: &str) -> String {
        format!("{}/{}{below}", folder(&self.project, self.id.kind), segment(&self.id.name))
    }
}

/// Most that the server gives at once.
const PAGE: u16 = 200;

/// Adds the documents that ship with Groundstate and are not there.
pub async fn demo(signal: &AbortSignal, project: &str) -> Answer<Changes> {
    post_abortable(signal, &format!("/projects/{}/demo", segment(project)), NO_BODY).await
}

/// By name.
pub async fn list(project: &str, kind: Kind, params: &DocumentListParams) -> Answer<Page<DocumentSummary>> {
    get_with(&folder(project, kind), params).await
}

/// Most documents that a choice or a comparison looks at.
const MOST: usize = 4000;

/// All of a kind, as far as a page can use them.
pub async fn all(project: &str, kind: Kind, which: DocumentListParams) -> Answer<Vec<DocumentSummary>> {
    let mut params = DocumentListParams { limit: Some(PAGE), ..which };
    let mut items = Vec::new();
    loop {
        let page = list(project, kind, &params).await?;
        items.extend(page.items);
        if page.next.is_none() || items.len() >= MOST {
            return Ok(items);
        }
        params.after = page.next;
    }
}

/// The newest version.
pub async fn one(place: &DocumentRef) -> Answer<Document> {
    get(&place.path("")).await
}

pub async fn save(signal: &AbortSignal, place: &DocumentRef, wanted: &SaveDocument) -> Answer<Changes> {
    change_abortable(signal, Method::PUT, &place.path(""), wanted).await
}

/// What saving it would find; keeps nothing.
pub async fn check(signal: &AbortSignal, place: &DocumentRef, wanted: &SaveDocument) -> Answer<Vec<DocumentFinding>> {
    post_abortable(signal, &place.path("/check"), wanted).await
}

pub async fn delete(signal: &AbortSignal, place: &DocumentRef, message: &str) -> Answer<Changes> {
    let params = DeletionParams { message: Some(message.to_owned()) };
    change_abortable(signal, Method::DELETE, &with_params(&place.path(""), &params), NO_BODY).await
}

pub async fn versions(place: &DocumentRef, after: Option<String>) -> Answer<Page<DocumentVersion>> {
    get_with(&place.path("/versions"), &PageParams::after(after)).await
}

/// What changed from one version to another; 0 is before there was one.
pub async fn diff(place: &DocumentRef, from: i32, to: i32) -> Answer<DocumentDiff> {
    get_with(&place.path("/diff"), &DiffParams { from: Some(from), to: Some(to) }).await
}

pub async fn used_by(place: &DocumentRef) -> Answer<UsedBy> {
    get(&place.path("/used-by")).await
}

/// Makes a new version like an old one.
pub async fn restore(signal: &AbortSignal, place: &DocumentRef, wanted: &Restoration) -> Answer<Changes> {
    post_abortable(signal, &place.path("/restore"), wanted).await
}

/// Uses the newest version, which must be this one, from now on.
pub async fn promote(signal: &AbortSignal, place: &DocumentRef, version: i32) -> Answer<Changes> {
    post_abortable(signal, &place.path("/promote"), &Promotion { version: Some(version) }).await
}

/// The JSON Schema of a kind of file.
pub async fn schema(kind: SchemaKind) -> Answer<Value> {
    get(&format!("/schemas/{kind}")).await
}

/// Validates the whole project, and keeps what is found. `hear` is told how far it is.
pub async fn validate(project: &str, signal: &AbortSignal, hear: impl FnMut(JobProgress)) -> Answer<ValidationDetail> {
    events::follow(&format!("/projects/{}/validations", segment(project)), &NewValidation::default(), signal, hear)
        .await
}

/// What the last validation of the whole project found; nothing if there was none.
pub async fn last_validation(project: &str) -> Answer<Option<ValidationDetail>> {
    let path = format!("/projects/{}/validations", segment(project));
    let newest: Page<ValidationSummary> = get_with(&path, &PageParams { limit: Some(1), after: None }).await?;
    match newest.items.first() {
        Some(newest) => get(&format!("{path}/{}", segment(&newest.id))).await.map(Some),
        None => Ok(None),
    }
}

fn folder(project: &str, kind: Kind) -> String {
    format!("/projects/{}/{}", segment(project), kind.folder())
}
