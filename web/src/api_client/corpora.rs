//! Corpora of a project.

use domain::api::{CorpusAnalytics, Page};
use domain::corpus::{CorpusConversation, CorpusDetail, CorpusSummary, ManifestRow, Report, Side, Spec};
use gloo_net::http::Request;
use serde_json::json;

use super::{Answer, ApiError, delete, get, post, query, read, url};
use crate::address::segment;

/// Newest first: the first page, or the one after a cursor.
pub async fn list(project: &str, after: Option<String>) -> Answer<Page<CorpusSummary>> {
    let after: Vec<_> = after.into_iter().map(|after| ("after", after)).collect();
    query(&format!("/projects/{}/corpora", segment(project)), &after).await
}

pub async fn one(id: &str) -> Answer<CorpusDetail> {
    get(&path(id, "")).await
}

pub async fn create(project: &str, name: &str, spec: &Spec) -> Answer<CorpusSummary> {
    post(&format!("/projects/{}/corpora", segment(project)), &json!({"name": name, "spec": spec})).await
}

/// What would be selected; nothing is kept.
pub async fn preview(project: &str, spec: &Spec) -> Answer<Report> {
    post(&format!("/projects/{}/corpora/preview", segment(project)), spec).await
}

pub async fn cancel(id: &str) -> Answer<CorpusSummary> {
    post(&path(id, "/cancel"), &json!({})).await
}

pub async fn remove(id: &str) -> Answer<()> {
    delete(&path(id, "")).await
}

pub async fn analytics(id: &str) -> Answer<CorpusAnalytics> {
    get(&path(id, "/analytics")).await
}

/// What it keeps: the first page, or the one after a cursor.
pub async fn conversations(
    id: &str,
    side: Option<Side>,
    limit: usize,
    after: Option<String>,
) -> Answer<Page<CorpusConversation>> {
    let side = side.map(|side| ("split", side.as_str().to_owned()));
    let page = [("limit", limit.to_string())].into_iter().chain(after.map(|after| ("after", after)));
    query(&path(id, "/conversations"), &side.into_iter().chain(page).collect::<Vec<_>>()).await
}

/// All that the filter found, and what became of it.
pub async fn manifest(id: &str) -> Answer<Vec<ManifestRow>> {
    let unreachable = |error: gloo_net::Error| ApiError::Unreachable(error.to_string());
    let response = Request::get(&url(&path(id, "/manifest"))).send().await.map_err(unreachable)?;
    let body = response.text().await.map_err(unreachable)?;
    if !response.ok() {
        return read(response.status(), &body);
    }
    body.lines().map(|line| read(response.status(), line)).collect()
}

/// Where the manifest is downloaded.
pub fn manifest_file(id: &str, format: &str) -> String {
    url(&format!("{}?format={format}", path(id, "/manifest")))
}

fn path(id: &str, below: &str) -> String {
    format!("/corpora/{}{below}", segment(id))
}
