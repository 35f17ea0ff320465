//! Who is signed in, and how they came in.

use domain::api::{AcceptInvitation, Invited, OneTimeLink, SessionDetail, SignIn};

use super::{Answer, delete, get, post};

pub async fn current() -> Answer<SessionDetail> {
    get("/session").await
}

pub async fn sign_in(given: &SignIn) -> Answer<SessionDetail> {
    post("/session", given).await
}

pub async fn sign_out() -> Answer<()> {
    delete("/session").await
}

/// For whom a one-time link is.
pub async fn invited(secret: &str) -> Answer<Invited> {
    post("/invitations/look", &OneTimeLink { secret: secret.to_owned() }).await
}

/// Uses a one-time link up, and signs in.
pub async fn accept(given: &AcceptInvitation) -> Answer<SessionDetail> {
    post("/invitations/accept", given).await
}
