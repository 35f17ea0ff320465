//! Lists of conversations, and what they could be narrowed by.

use domain::api::{ConversationFacets, ConversationSummary, Page};

use super::{Answer, Place, query};
use crate::address::segment;

/// Conversations of a project, in an order: a page.
pub async fn list(project: &str, asked: &[(String, String)], place: Place) -> Answer<Page<ConversationSummary>> {
    let asked: Vec<(&str, String)> = borrowed(asked).into_iter().chain(place.pairs()).collect();
    query(&format!("/projects/{}/conversations", segment(project)), &asked).await
}

pub async fn facets(project: &str, asked: &[(String, String)]) -> Answer<ConversationFacets> {
    query(&format!("/projects/{}/conversations/facets", segment(project)), &borrowed(asked)).await
}

pub fn borrowed(pairs: &[(String, String)]) -> Vec<(&str, String)> {
    pairs.iter().map(|(name, value)| (name.as_str(), value.clone())).collect()
}
