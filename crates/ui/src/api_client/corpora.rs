//! Corpora of a project.

use domain::api::{
    CorpusAnalytics, CorpusConversation, CorpusConversationParams, CorpusDetail, CorpusNeighbourParams, CorpusSummary,
    DroppedParams, ManifestFormat, ManifestParams, ManifestRow, Neighbours, NewCorpus, Page, PageParams,
};
use domain::corpus::{Report, Side, Spec, Step};
use domain::progress::JobProgress;

use super::{AbortSignal, Answer, NO_BODY, PageStart, delete, events, get, get_with, post, url, with_params};
use crate::address::segment;

/// Newest first: the first page, or the one after a cursor.
pub async fn list(project: &str, after: Option<String>) -> Answer<Page<CorpusSummary>> {
    get_with(&format!("/projects/{}/corpora", segment(project)), &PageParams::after(after)).await
}

pub async fn one(id: &str) -> Answer<CorpusDetail> {
    get(&path(id, "")).await
}

pub async fn create(project: &str, new: &NewCorpus) -> Answer<CorpusSummary> {
    post(&format!("/projects/{}/corpora", segment(project)), new).await
}

/// What would be selected; nothing is kept. `hear` is told how far it is. The server works on it while the line is open.
pub async fn preview(
    project: &str,
    spec: &Spec,
    signal: &AbortSignal,
    hear: impl FnMut(JobProgress),
) -> Answer<Report> {
    events::follow(&format!("/projects/{}/corpora/preview", segment(project)), spec, signal, hear).await
}

pub async fn cancel(id: &str) -> Answer<CorpusSummary> {
    post(&path(id, "/cancel"), NO_BODY).await
}

/// Has it built again that failed or was cancelled.
pub async fn retry(id: &str) -> Answer<CorpusSummary> {
    post(&path(id, "/retry"), NO_BODY).await
}

pub async fn remove(id: &str) -> Answer<()> {
    delete(&path(id, "")).await
}

pub async fn analytics(id: &str) -> Answer<CorpusAnalytics> {
    get(&path(id, "/analytics")).await
}

/// What it keeps, a page.
pub async fn conversations(id: &str, split: Option<Side>, from: PageStart) -> Answer<Page<CorpusConversation>> {
    let (limit, after, skip) = from.parts();
    get_with(&path(id, "/conversations"), &CorpusConversationParams { split, limit, after, skip }).await
}

/// What its filter found and it does not keep, a page.
pub async fn dropped(id: &str, dropped_by: Option<Step>, from: PageStart) -> Answer<Page<ManifestRow>> {
    let (limit, after, skip) = from.parts();
    get_with(&path(id, "/dropped"), &DroppedParams { dropped_by, limit, after, skip }).await
}

/// What comes before and after a conversation in the list of the corpus that it is in.
pub async fn neighbours(id: &str, conversation: &str, list: CorpusNeighbourParams) -> Answer<Neighbours> {
    get_with(&path(id, &format!("/conversations/{}/neighbours", segment(conversation))), &list).await
}

/// Where the manifest is downloaded.
pub fn manifest_file(id: &str, format: ManifestFormat) -> String {
    url(&with_params(&path(id, "/manifest"), &ManifestParams { format: Some(format) }))
}

fn path(id: &str, below: &str) -> String {
    format!("/corpora/{}{below}", segment(id))
}
