//! Who is signed in, and how they came in.

use domain::api::{Invited, SessionDetail};
use serde_json::json;

use super::{Answer, delete, get, post};

pub async fn current() -> Answer<SessionDetail> {
    get("/session").await
}

pub async fn sign_in(name: &str, password: &str) -> Answer<SessionDetail> {
    post("/session", &json!({"name": name, "password": password})).await
}

pub async fn sign_out() -> Answer<()> {
    delete("/session").await
}

/// For whom a one-time link is.
pub async fn invited(secret: &str) -> Answer<Invited> {
    post("/invitations/look", &json!({"secret": secret})).await
}

/// Uses a one-time link up, and signs in.
pub async fn accept(secret: &str, name: &str, password: &str) -> Answer<SessionDetail> {
    post("/invitations/accept", &json!({"secret": secret, "name": name, "password": password})).await
}
