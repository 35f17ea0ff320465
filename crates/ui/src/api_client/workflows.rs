//! Workflows as they are drawn, their runs, and what their rows became.

use domain::api::workflows::{
    AnswerTimes, DrawWorkflow, OutputRow, OutputRowParams, RowTrace, RowsSummary, WorkflowGraph, WorkflowOrder,
};
use domain::api::{Page, PageParams, RunSummary};

use super::{AbortSignal, Answer, get, get_with, post, post_abortable};
use crate::address::segment;

/// Positions of a page of rows.
const ROWS: i32 = 50;

/// Its steps, with drafts in place of what is saved.
pub async fn graph(project: &str, name: &str, wanted: &DrawWorkflow) -> Answer<WorkflowGraph> {
    post(&below(project, name, "graph"), wanted).await
}

/// Newest first: the first page, or the one after a cursor.
pub async fn runs(project: &str, name: &str, after: Option<String>) -> Answer<Page<RunSummary>> {
    get_with(&below(project, name, "runs"), &PageParams::after(after)).await
}

pub async fn start(signal: &AbortSignal, project: &str, name: &str, order: &WorkflowOrder) -> Answer<RunSummary> {
    post_abortable(signal, &below(project, name, "runs"), order).await
}

/// How long answers took.
pub async fn answer_times(project: &str, name: &str) -> Answer<AnswerTimes> {
    get(&below(project, name, "answers")).await
}

fn below(project: &str, name: &str, what: &str) -> String {
    format!("/projects/{}/workflows/{}/{what}", segment(project), segment(name))
}

/// Rows of a run that have ended, of so many positions that were planned: the first page, or the one from a cursor on.
pub async fn rows(run: &str, planned: i64, from: Option<String>) -> Answer<Page<OutputRow>> {
    let from = from.and_then(|from| from.parse().ok()).unwrap_or(0);
    let params = OutputRowParams { from: Some(from), limit: Some(ROWS.unsigned_abs()) };
    let items = get_with(&format!("/runs/{}/rows", segment(run)), &params).await?;
    let next = from.saturating_add(ROWS);
    Ok(Page { items, next: (i64::from(next) < planned).then(|| next.to_string()) })
}

/// Metrics and times of the rows of a run.
pub async fn summary(run: &str) -> Answer<RowsSummary> {
    get(&format!("/runs/{}/rows/summary", segment(run))).await
}

/// One row, with what was asked for it.
pub async fn row(run: &str, position: &str) -> Answer<RowTrace> {
    get(&format!("/runs/{}/rows/{}", segment(run), segment(position))).await
}
