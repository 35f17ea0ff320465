//! Runs of a project.

use domain::api::groups::{GroupParams, GroupsSummary, RunGroup};
use domain::api::{ConversationSummary, Page, PageParams, RunChange, RunOrder, RunSummary, RunTerms};
use domain::forecast::Forecast;
use strum::Display;

use super::{AbortSignal, Answer, NO_BODY, get, get_with, patch, post, post_abortable};
use crate::address::segment;

/// Newest first: the first page, or the one after a cursor.
pub async fn list(project: &str, after: Option<String>) -> Answer<Page<RunSummary>> {
    get_with(&format!("/projects/{}/runs", segment(project)), &PageParams::after(after)).await
}

pub async fn one(id: &str) -> Answer<RunSummary> {
    get(&format!("/runs/{}", segment(id))).await
}

/// One page of a run's conversations.
pub async fn conversations(id: &str, after: Option<String>) -> Answer<Page<ConversationSummary>> {
    get_with(&format!("/runs/{}/conversations", segment(id)), &PageParams::after(after)).await
}

pub async fn start(signal: &AbortSignal, project: &str, order: &RunOrder) -> Answer<RunSummary> {
    post_abortable(signal, &format!("/projects/{}/runs", segment(project)), order).await
}

/// Groups of a run, a page of them.
pub async fn groups(id: &str, params: &GroupParams) -> Answer<Page<RunGroup>> {
    get_with(&format!("/runs/{}/groups", segment(id)), params).await
}

/// What its groups come to.
pub async fn groups_summary(id: &str) -> Answer<GroupsSummary> {
    get(&format!("/runs/{}/groups/summary", segment(id))).await
}

/// What people ask of a run that is played.
#[derive(Debug, Clone, Copy, Display)]
#[strum(serialize_all = "snake_case")]
pub enum Control {
    Pause,
    Resume,
    Cancel,
}

pub async fn control(id: &str, control: Control) -> Answer<RunSummary> {
    post(&format!("/runs/{}/{control}", segment(id)), NO_BODY).await
}

/// Gives what others than the agent spoiled another attempt.
pub async fn play_again(signal: &AbortSignal, id: &str) -> Answer<RunSummary> {
    post_abortable(signal, &format!("/runs/{}/retry", segment(id)), NO_BODY).await
}

/// Changes priority and caps; what is absent stays.
pub async fn change(id: &str, change: &RunChange) -> Answer<RunSummary> {
    patch(&format!("/runs/{}", segment(id)), change).await
}

/// Everything that decides how it is played.
pub async fn terms(id: &str) -> Answer<RunTerms> {
    get(&format!("/runs/{}/config", segment(id))).await
}

/// What the whole run will take. There is none before a conversation has ended.
pub async fn forecast(id: &str) -> Answer<Forecast> {
    get(&format!("/runs/{}/forecast", segment(id))).await
}
