//! People who may sign in, for administrators.

use domain::api::{Invitation, Page, UserSummary};
use serde_json::{Value, json};

use super::{Answer, patch, post, query};
use crate::address::segment;

pub async fn list(after: Option<String>) -> Answer<Page<UserSummary>> {
    let after: Vec<_> = after.map(|after| ("after", after)).into_iter().collect();
    query("/users", &after).await
}

pub async fn invite(name: &str, administrator: bool) -> Answer<Invitation> {
    post("/users", &json!({"name": name, "administrator": administrator})).await
}

/// Another link, for who lost the first one or forgot the password.
pub async fn invite_again(name: &str) -> Answer<Invitation> {
    post(&format!("/users/{}/invitation", segment(name)), &json!({})).await
}

/// `administrator`, `disabled`, or both.
pub async fn change(name: &str, change: &Value) -> Answer<UserSummary> {
    patch(&format!("/users/{}", segment(name)), change).await
}
