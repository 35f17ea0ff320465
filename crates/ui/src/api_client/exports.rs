//! Exports of a project.

use domain::api::{ExportPreview, ExportSummary, Page, PageParams};
use domain::export::ExportSpec;

use super::{AbortSignal, Answer, NO_BODY, delete, get, get_with, post, post_abortable, url};
use crate::address::segment;

/// Newest first: the first page, or the one after a cursor.
pub async fn list(project: &str, after: Option<String>) -> Answer<Page<ExportSummary>> {
    get_with(&format!("/projects/{}/exports", segment(project)), &PageParams::after(after)).await
}

pub async fn one(id: &str) -> Answer<ExportSummary> {
    get(&path(id, "")).await
}

pub async fn create(project: &str, spec: &ExportSpec) -> Answer<ExportSummary> {
    post(&format!("/projects/{}/exports", segment(project)), spec).await
}

/// The first record, without building anything.
pub async fn preview(project: &str, spec: &ExportSpec, signal: &AbortSignal) -> Answer<ExportPreview> {
    post_abortable(signal, &format!("/projects/{}/exports/preview", segment(project)), spec).await
}

pub async fn cancel(id: &str) -> Answer<ExportSummary> {
    post(&path(id, "/cancel"), NO_BODY).await
}

pub async fn remove(id: &str) -> Answer<()> {
    delete(&path(id, "")).await
}

/// Where the file is downloaded.
pub fn file(id: &str) -> String {
    url(&path(id, "/file"))
}

fn path(id: &str, below: &str) -> String {
    format!("/exports/{}{below}", segment(id))
}
