//! Documents of a project: playbooks, scenarios, personas, judges.

use domain::api::documents::Changes;
use serde_json::json;

use super::{Answer, post};
use crate::address::segment;

/// Fills an empty project with the documents that ship with Groundstate.
pub async fn demo(project: &str) -> Answer<Changes> {
    post(&format!("/projects/{}/demo", segment(project)), &json!({})).await
}
