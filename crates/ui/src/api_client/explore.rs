//! Lists of conversations, and what they could be narrowed by.

use domain::api::{ConversationFacets, ConversationSummary, Page};

use super::{Answer, PageStart, query};
use crate::address::segment;

/// Conversations of a project, in an order: a page.
pub async fn list(project: &str, params: &[(String, String)], place: PageStart) -> Answer<Page<ConversationSummary>> {
    let params: Vec<(&str, String)> = as_pairs(params).into_iter().chain(place.pairs()).collect();
    query(&format!("/projects/{}/conversations", segment(project)), &params).await
}

pub async fn facets(project: &str, params: &[(String, String)]) -> Answer<ConversationFacets> {
    query(&format!("/projects/{}/conversations/facets", segment(project)), &as_pairs(params)).await
}

pub fn as_pairs(pairs: &[(String, String)]) -> Vec<(&str, String)> {
    pairs.iter().map(|(name, value)| (name.as_str(), value.clone())).collect()
}
