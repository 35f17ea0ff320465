//! Who is signed in, and how they came in.

use domain::api::{AcceptInvitation, LinkRecipient, OneTimeLink, SessionDetail, SignIn};

use super::{Answer, CSRF_TOKEN, delete, get, post};

pub async fn current() -> Answer<SessionDetail> {
    read().await.inspect(remember)
}

pub async fn sign_in(given: &SignIn) -> Answer<SessionDetail> {
    post("/session", given).await.inspect(remember)
}

pub async fn sign_out() -> Answer<()> {
    delete("/session").await.inspect(|()| CSRF_TOKEN.with(|token| token.set(None)))
}

/// For whom a one-time link is.
pub async fn invited(secret: &str) -> Answer<LinkRecipient> {
    post("/invitations/look", &OneTimeLink { secret: secret.to_owned() }).await
}

/// Uses a one-time link up, and signs in.
pub async fn accept(given: &AcceptInvitation) -> Answer<SessionDetail> {
    post("/invitations/accept", given).await.inspect(remember)
}

pub(super) async fn read() -> Answer<SessionDetail> {
    get("/session").await
}

/// Keeps the token that comes with a session, for the changes that follow.
fn remember(session: &SessionDetail) {
    CSRF_TOKEN.with(|token| token.set(session.csrf_token.clone()));
}
