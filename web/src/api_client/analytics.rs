//! Statistics of runs.

use domain::api::{RunAnalytics, RunComparison};

use super::explore::borrowed;
use super::{Answer, query};
use crate::address::segment;

pub async fn of_run(run: &str, asked: &[(String, String)]) -> Answer<RunAnalytics> {
    query(&format!("/runs/{}/analytics", segment(run)), &borrowed(asked)).await
}

/// How far another run of the project differs.
pub async fn comparison(run: &str, with: &str, asked: &[(String, String)]) -> Answer<RunComparison> {
    let mut asked = borrowed(asked);
    asked.push(("with", with.to_owned()));
    query(&format!("/runs/{}/comparison", segment(run)), &asked).await
}
