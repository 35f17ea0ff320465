//! Conversations that go on differently from a turn of another one.

use domain::api::BranchSummary;
use serde_json::Value;

use super::{Answer, End, get, post_over};
use crate::address::segment;

pub async fn of(conversation: &str) -> Answer<Vec<BranchSummary>> {
    get(&format!("/conversations/{}/branches", segment(conversation))).await
}

/// The body is that of `POST /conversations/{conversation}/branches`.
pub async fn add(end: &End, conversation: &str, branch: &Value) -> Answer<BranchSummary> {
    post_over(end, &format!("/conversations/{}/branches", segment(conversation)), branch).await
}
