//! Lists of conversations, and what they could be narrowed by.

use domain::api::{ConversationFacets, ConversationListParams, ConversationSummary, Page};

use super::{Answer, NO_PARAMS, PageStart, get_filtered};
use crate::address::segment;

/// A page of the conversations of a project that parameters of an address ask for: a filter and an order.
pub async fn list(project: &str, list: &[(String, String)], place: PageStart) -> Answer<Page<ConversationSummary>> {
    let (limit, after, skip) = place.parts();
    let params = ConversationListParams { limit, after, skip, ..ConversationListParams::default() };
    get_filtered(&format!("/projects/{}/conversations", segment(project)), list, &params).await
}

/// How many conversations of a project pass a filter, and what could be asked of them.
pub async fn facets(project: &str, filter: &[(String, String)]) -> Answer<ConversationFacets> {
    get_filtered(&format!("/projects/{}/conversations/facets", segment(project)), filter, NO_PARAMS).await
}
