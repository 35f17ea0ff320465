//! What agents should have said.

use domain::api::CorrectedConversation;
use domain::correction::Correction;
use serde_json::{Value, json};

use super::{Answer, get, post};
use crate::address::segment;

/// A conversation as it reads now.
pub async fn of(conversation: &str) -> Answer<CorrectedConversation> {
    get(&format!("/conversations/{}/corrections", segment(conversation))).await
}

/// The body is that of `POST /conversations/{conversation}/corrections`.
pub async fn add(conversation: &str, correction: &Value) -> Answer<Correction> {
    post(&format!("/conversations/{}/corrections", segment(conversation)), correction).await
}

/// Lets a turn read as it was played.
pub async fn withdraw(conversation: &str, seq: u32, note: &str) -> Answer<Correction> {
    add(conversation, &json!({"seq": seq, "withdraw": true, "note": note})).await
}
