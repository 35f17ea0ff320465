//! Statistics of runs.

use domain::api::{RunAnalytics, RunComparison};

use super::explore::as_pairs;
use super::{Answer, query};
use crate::address::segment;

pub async fn of_run(run: &str, params: &[(String, String)]) -> Answer<RunAnalytics> {
    query(&format!("/runs/{}/analytics", segment(run)), &as_pairs(params)).await
}

/// How far another run of the project differs.
pub async fn comparison(run: &str, with: &str, params: &[(String, String)]) -> Answer<RunComparison> {
    let mut params = as_pairs(params);
    params.push(("with", with.to_owned()));
    query(&format!("/runs/{}/comparison", segment(run)), &params).await
}
