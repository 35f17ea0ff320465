//! Conversations that go on differently from a turn of another one.

use domain::api::{BranchSummary, NewBranch};

use super::{Answer, End, get, post_over};
use crate::address::segment;

pub async fn of(conversation: &str) -> Answer<Vec<BranchSummary>> {
    get(&format!("/conversations/{}/branches", segment(conversation))).await
}

pub async fn add(end: &End, conversation: &str, branch: &NewBranch) -> Answer<BranchSummary> {
    post_over(end, &format!("/conversations/{}/branches", segment(conversation)), branch).await
}
