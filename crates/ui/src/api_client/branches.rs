//! Conversations that go on differently from a turn of another one.

use domain::api::{BranchSummary, NewBranch};

use super::{AbortSignal, Answer, get, post_abortable};
use crate::address::segment;

pub async fn of(conversation: &str) -> Answer<Vec<BranchSummary>> {
    get(&format!("/conversations/{}/branches", segment(conversation))).await
}

pub async fn add(signal: &AbortSignal, conversation: &str, branch: &NewBranch) -> Answer<BranchSummary> {
    post_abortable(signal, &format!("/conversations/{}/branches", segment(conversation)), branch).await
}
