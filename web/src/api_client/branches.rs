//! Conversations that go on differently from a turn of another one.

use domain::api::BranchSummary;
use serde_json::Value;

use super::{Answer, get, post};
use crate::address::segment;

pub async fn of(conversation: &str) -> Answer<Vec<BranchSummary>> {
    get(&format!("/conversations/{}/branches", segment(conversation))).await
}

/// The body is that of `POST /conversations/{conversation}/branches`.
pub async fn add(conversation: &str, branch: &Value) -> Answer<BranchSummary> {
    post(&format!("/conversations/{}/branches", segment(conversation)), branch).await
}
