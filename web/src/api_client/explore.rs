//! Lists of conversations, and what they could be narrowed by.

use domain::api::{ConversationFacets, ConversationSummary, Page};

use super::{Answer, query};
use crate::address::segment;

/// Conversations of a project, in an order: the first page, or the one after a cursor.
pub async fn list(
    project: &str,
    asked: &[(String, String)],
    limit: usize,
    after: Option<String>,
) -> Answer<Page<ConversationSummary>> {
    let page =
        [("limit".to_owned(), limit.to_string())].into_iter().chain(after.map(|after| ("after".to_owned(), after)));
    let asked: Vec<(String, String)> = asked.iter().cloned().chain(page).collect();
    query(&format!("/projects/{}/conversations", segment(project)), &borrowed(&asked)).await
}

pub async fn facets(project: &str, asked: &[(String, String)]) -> Answer<ConversationFacets> {
    query(&format!("/projects/{}/conversations/facets", segment(project)), &borrowed(asked)).await
}

pub fn borrowed(pairs: &[(String, String)]) -> Vec<(&str, String)> {
    pairs.iter().map(|(name, value)| (name.as_str(), value.clone())).collect()
}
