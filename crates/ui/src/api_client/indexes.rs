//! Search indexes of a project.

use domain::api::{Hit, IndexSummary, NewIndex, Page, PageParams, SearchParams};

use super::{Answer, NO_BODY, delete, get, get_with, post};
use crate::address::segment;

/// Newest first: the first page, or the one after a cursor.
pub async fn list(project: &str, after: Option<String>) -> Answer<Page<IndexSummary>> {
    get_with(&format!("/projects/{}/indexes", segment(project)), &PageParams::after(after)).await
}

pub async fn one(id: &str) -> Answer<IndexSummary> {
    get(&path(id, "")).await
}

pub async fn create(project: &str, new: &NewIndex) -> Answer<IndexSummary> {
    post(&format!("/projects/{}/indexes", segment(project)), new).await
}

pub async fn search(id: &str, query: &str) -> Answer<Vec<Hit>> {
    get_with(&path(id, "/search"), &SearchParams { query: query.to_owned(), k: None }).await
}

pub async fn cancel(id: &str) -> Answer<IndexSummary> {
    post(&path(id, "/cancel"), NO_BODY).await
}

pub async fn remove(id: &str) -> Answer<()> {
    delete(&path(id, "")).await
}

fn path(id: &str, below: &str) -> String {
    format!("/indexes/{}{below}", segment(id))
}
