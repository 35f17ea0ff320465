//! What people say of conversations.

use domain::api::{ConversationRatings, Page, ReviewAgreement};
use domain::calibration::Disagreement;
use serde_json::Value;

use super::{Answer, cut, get, put, query};
use crate::address::segment;

pub async fn of(conversation: &str) -> Answer<ConversationRatings> {
    get(&format!("/conversations/{}/ratings", segment(conversation))).await
}

/// Takes the place of what they said before. The body is that of `PUT /conversations/{conversation}/ratings`.
pub async fn rate(conversation: &str, rating: &Value) -> Answer<ConversationRatings> {
    put(&format!("/conversations/{}/ratings", segment(conversation)), rating).await
}

/// In a whole project.
pub async fn agreement(project: &str) -> Answer<ReviewAgreement> {
    get(&format!("/projects/{}/ratings/agreement", segment(project))).await
}

/// In a whole project, those that are at least so many points apart: the first page, or the one after a cursor.
pub async fn disagreements(project: &str, spread: u8, after: Option<String>) -> Answer<Page<Disagreement>> {
    apart(&format!("/projects/{}/ratings/disagreements", segment(project)), spread, after).await
}

/// Most that the API tells of.
const MOST: &str = "1000";

/// Disagreements of a project or a queue.
pub async fn apart(path: &str, spread: u8, after: Option<String>) -> Answer<Page<Disagreement>> {
    let asked = [("spread", spread.to_string()), ("limit", MOST.to_owned())];
    Ok(cut(query(path, &asked).await?, after))
}
