//! Judges beside people.

use domain::api::{CalibrationDetail, NewCalibration, Page, PageParams};

use super::{AbortSignal, Answer, get, get_with, post_abortable};
use crate::address::segment;

/// Newest first: the first page, or the one after a cursor.
pub async fn list(project: &str, after: Option<String>) -> Answer<Page<CalibrationDetail>> {
    get_with(&format!("/projects/{}/calibrations", segment(project)), &PageParams::after(after)).await
}

pub async fn one(id: &str) -> Answer<CalibrationDetail> {
    get(&format!("/calibrations/{}", segment(id))).await
}

/// Compares judges with what people rated.
pub async fn make(signal: &AbortSignal, project: &str, new: &NewCalibration) -> Answer<Vec<CalibrationDetail>> {
    post_abortable(signal, &format!("/projects/{}/calibrations", segment(project)), new).await
}
