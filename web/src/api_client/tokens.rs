//! API tokens of who is signed in.

use domain::api::{NewTokenAnswer, TokenSummary};
use serde_json::Value;

use super::{Answer, delete, get, post};
use crate::address::segment;

pub async fn list() -> Answer<Vec<TokenSummary>> {
    get("/tokens").await
}

/// The body is that of `POST /tokens`.
pub async fn create(token: &Value) -> Answer<NewTokenAnswer> {
    post("/tokens", token).await
}

pub async fn withdraw(id: &str) -> Answer<()> {
    delete(&format!("/tokens/{}", segment(id))).await
}
