//! What people say of conversations.

use domain::api::{ConversationRatings, DisagreementParams, NewRating, Page, ReviewAgreement};
use domain::calibration::Disagreement;

use super::{Answer, get, get_with, put};
use crate::address::segment;

pub async fn of(conversation: &str) -> Answer<ConversationRatings> {
    get(&format!("/conversations/{}/ratings", segment(conversation))).await
}

/// Takes the place of what they said before.
pub async fn rate(conversation: &str, rating: &NewRating) -> Answer<ConversationRatings> {
    put(&format!("/conversations/{}/ratings", segment(conversation)), rating).await
}

/// In a whole project.
pub async fn agreement(project: &str) -> Answer<ReviewAgreement> {
    get(&format!("/projects/{}/ratings/agreement", segment(project))).await
}

/// In a whole project, those that are at least so many points apart: the first page, or the one after a cursor.
pub async fn disagreements(project: &str, spread: u8, after: Option<String>) -> Answer<Page<Disagreement>> {
    disagreement_page(&format!("/projects/{}/ratings/disagreements", segment(project)), spread, after).await
}

/// Disagreements of a project or a queue.
pub async fn disagreement_page(path: &str, spread: u8, after: Option<String>) -> Answer<Page<Disagreement>> {
    get_with(path, &DisagreementParams { after, spread: Some(spread), ..DisagreementParams::default() }).await
}
