//! Corpora of a project.

use domain::api::{
    CorpusAnalytics, CorpusConversation, CorpusDetail, CorpusSummary, ManifestRow, Neighbours, NewCorpus, Page,
};
use domain::corpus::{Report, Side, Spec, Step};
use domain::progress::Doing;

use super::{AbortSignal, Answer, NO_BODY, PageStart, delete, events, get, post, query, url};
use crate::address::segment;

/// Newest first: the first page, or the one after a cursor.
pub async fn list(project: &str, after: Option<String>) -> Answer<Page<CorpusSummary>> {
    let after: Vec<_> = after.into_iter().map(|after| ("after", after)).collect();
    query(&format!("/projects/{}/corpora", segment(project)), &after).await
}

pub async fn one(id: &str) -> Answer<CorpusDetail> {
    get(&path(id, "")).await
}

pub async fn create(project: &str, new: &NewCorpus) -> Answer<CorpusSummary> {
    post(&format!("/projects/{}/corpora", segment(project)), new).await
}

/// What would be selected; nothing is kept. `hear` is told how far it is. The server works on it while the line is open.
pub async fn preview(project: &str, spec: &Spec, signal: &AbortSignal, hear: impl FnMut(Doing)) -> Answer<Report> {
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
pub async fn conversations(id: &str, side: Option<Side>, place: PageStart) -> Answer<Page<CorpusConversation>> {
    let side = side.map(|side| ("split", side.to_string()));
    query(&path(id, "/conversations"), &side.into_iter().chain(place.pairs()).collect::<Vec<_>>()).await
}

/// What its filter found and it does not keep, a page.
pub async fn dropped(id: &str, by: Option<Step>, place: PageStart) -> Answer<Page<ManifestRow>> {
    let by = by.map(|by| ("dropped_by", by.to_string()));
    query(&path(id, "/dropped"), &by.into_iter().chain(place.pairs()).collect::<Vec<_>>()).await
}

/// What comes before and after a conversation in the list of the corpus that it is in.
pub async fn neighbours(id: &str, conversation: &str, among: &[(&str, String)]) -> Answer<Neighbours> {
    query(&path(id, &format!("/conversations/{}/neighbours", segment(conversation))), among).await
}

/// Where the manifest is downloaded.
pub fn manifest_file(id: &str, format: &str) -> String {
    url(&format!("{}?format={format}", path(id, "/manifest")))
}

fn path(id: &str, below: &str) -> String {
    format!("/corpora/{}{below}", segment(id))
}
