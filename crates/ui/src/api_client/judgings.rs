//! Judging runs again.

use domain::api::{JudgingSummary, NewJudging};

use super::{Answer, NO_BODY, get, post};
use crate::address::segment;

/// How a run was judged, newest first.
pub async fn of_run(run: &str) -> Answer<Vec<JudgingSummary>> {
    get(&format!("/runs/{}/judgings", segment(run))).await
}

pub async fn begin(run: &str, new: &NewJudging) -> Answer<JudgingSummary> {
    post(&format!("/runs/{}/judgings", segment(run)), new).await
}

/// Goes on with one that failed or was cancelled.
pub async fn resume(id: &str) -> Answer<JudgingSummary> {
    post(&format!("/judgings/{}/resume", segment(id)), NO_BODY).await
}

pub async fn cancel(id: &str) -> Answer<JudgingSummary> {
    post(&format!("/judgings/{}/cancel", segment(id)), NO_BODY).await
}
