//! Statistics of runs.

use domain::api::{ComparisonParams, RunAnalytics, RunComparison};

use super::{Answer, NO_PARAMS, get_filtered};
use crate::address::segment;

pub async fn of_run(run: &str, filter: &[(String, String)]) -> Answer<RunAnalytics> {
    get_filtered(&format!("/runs/{}/analytics", segment(run)), filter, NO_PARAMS).await
}

/// How far another run of the project differs.
pub async fn comparison(run: &str, with: &str, filter: &[(String, String)]) -> Answer<RunComparison> {
    let params = ComparisonParams { with: with.to_owned() };
    get_filtered(&format!("/runs/{}/comparison", segment(run)), filter, &params).await
}
