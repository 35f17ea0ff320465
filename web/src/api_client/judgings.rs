//! Judging runs again.

use domain::api::JudgingSummary;
use serde_json::json;

use super::{Answer, get, post};
use crate::address::segment;

/// How a run was judged, newest first.
pub async fn of_run(run: &str) -> Answer<Vec<JudgingSummary>> {
    get(&format!("/runs/{}/judgings", segment(run))).await
}

/// No names: as the run was judged.
pub async fn begin(run: &str, models: &[String], criteria_apart: bool) -> Answer<JudgingSummary> {
    let body = json!({"models": models, "criteria_apart": criteria_apart});
    post(&format!("/runs/{}/judgings", segment(run)), &body).await
}

pub async fn cancel(id: &str) -> Answer<JudgingSummary> {
    post(&format!("/judgings/{}/cancel", segment(id)), &json!({})).await
}
