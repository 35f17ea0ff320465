//! Conversations, whole, and their neighbours in a list.

use domain::api::{ConversationDetail, Neighbours, VerdictSummary};

use super::{Answer, NO_PARAMS, get, get_filtered, url};
use crate::address::segment;

pub async fn one(id: &str) -> Answer<ConversationDetail> {
    get(&format!("/conversations/{}", segment(id))).await
}

/// Where the server's own words of it stand, for a tab of their own.
pub fn address(id: &str) -> String {
    url(&format!("/conversations/{}", segment(id)))
}

/// What stands before and after it in the list that these parameters of an address ask for: its filter and its order.
pub async fn neighbours(id: &str, list: &[(String, String)]) -> Answer<Neighbours> {
    get_filtered(&format!("/conversations/{}/neighbours", segment(id)), list, NO_PARAMS).await
}

/// What all judges said of it, whenever they were asked; the newest first.
pub async fn verdicts(id: &str) -> Answer<Vec<VerdictSummary>> {
    get(&format!("/conversations/{}/verdicts", segment(id))).await
}
