//! Conversations, whole.

use domain::api::ConversationDetail;

use super::{Answer, get};
use crate::address::segment;

pub async fn one(id: &str) -> Answer<ConversationDetail> {
    get(&format!("/conversations/{}", segment(id))).await
}
