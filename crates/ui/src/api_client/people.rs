//! People who may sign in, for administrators.

use domain::api::{Invitation, NewUser, Page, PageParams, UserChange, UserSummary};

use super::{Answer, NO_BODY, get_with, patch, post};
use crate::address::segment;

pub async fn list(after: Option<String>) -> Answer<Page<UserSummary>> {
    get_with("/users", &PageParams::after(after)).await
}

pub async fn invite(new: &NewUser) -> Answer<Invitation> {
    post("/users", new).await
}

/// Another link, for who lost the first one or forgot the password.
pub async fn invite_again(name: &str) -> Answer<Invitation> {
    post(&format!("/users/{}/invitation", segment(name)), NO_BODY).await
}

pub async fn change(name: &str, change: &UserChange) -> Answer<UserSummary> {
    patch(&format!("/users/{}", segment(name)), change).await
}
