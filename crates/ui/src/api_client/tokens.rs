//! API tokens of who is signed in.

use domain::api::{NewToken, NewTokenAnswer, Page, TokenSummary};

use super::{Answer, cut, delete, get, post};
use crate::address::segment;

/// Newest first: the first page, or the one after a cursor.
pub async fn list(after: Option<String>) -> Answer<Page<TokenSummary>> {
    Ok(cut(get("/tokens").await?, after))
}

pub async fn create(token: &NewToken) -> Answer<NewTokenAnswer> {
    post("/tokens", token).await
}

pub async fn withdraw(id: &str) -> Answer<()> {
    delete(&format!("/tokens/{}", segment(id))).await
}
