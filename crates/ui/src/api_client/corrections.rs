//! What agents should have said.

use domain::api::{CorrectedConversation, NewCorrection};
use domain::correction::Correction;

use super::{Answer, get, post};
use crate::address::segment;

/// A conversation as it reads now.
pub async fn of(conversation: &str) -> Answer<CorrectedConversation> {
    get(&format!("/conversations/{}/corrections", segment(conversation))).await
}

pub async fn add(conversation: &str, correction: &NewCorrection) -> Answer<Correction> {
    post(&format!("/conversations/{}/corrections", segment(conversation)), correction).await
}

/// Lets a turn read as it was played.
pub async fn withdraw(conversation: &str, seq: u32, note: &str) -> Answer<Correction> {
    let note = note.to_owned();
    add(conversation, &NewCorrection { seq, withdraw: true, note, ..NewCorrection::default() }).await
}
