//! People, for administrators.

use axum::Json;
use axum::extract::State;
use domain::api::{Invitation, NewUser, Page, UserChange, UserSummary};
use sqlx::PgPool;

use super::access::Administrator;
use super::audit::Audit;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path, Query};
use super::page::{PageParams, Paging, page};
use super::session::check_name;
use super::shown_once::ShownOnce;
use crate::people;
use store::clock;
use store::users::{self, User};

/// All users
#[utoipa::path(get, path = "/users", tag = "users", params(PageParams),
    responses((status = 200, body = Page<UserSummary>), Problems), security(("session" = []), ("token" = ["installation"])))]
pub async fn list(
    State(pool): State<PgPool>,
    _: Administrator,
    Query(params): Query<PageParams>,
) -> Result<Json<Page<UserSummary>>> {
    let limit = params.limit()?;
    let after = params.name();
    let found = users::list(&mut *pool.acquire().await?, after, i64::from(limit) + 1).await?;
    let items = found.into_iter().map(summary).collect();
    Ok(Json(page(items, limit, |user: &UserSummary| user.name.clone())))
}

/// Invite somebody
///
/// The answer holds the secret of a link by which they choose a password. It is shown once and is valid for 7 days.
#[utoipa::path(post, path = "/users", tag = "users", request_body = NewUser,
    responses((status = 201, body = Invitation), Problems), security(("session" = []), ("token" = ["installation"])))]
pub async fn create(
    State(pool): State<PgPool>,
    _: Administrator,
    audit: Audit,
    Body(new): Body<NewUser>,
) -> Result<ShownOnce<Invitation>> {
    let user = people::invited(check_name("/name", &new.name)?, new.administrator);
    let mut tx = pool.begin().await?;
    if !users::insert(&mut tx, &user).await? {
        return Err(HttpError::Conflict(format!("there is a user {} already", user.name)));
    }
    let invitation = people::invite(&mut tx, &user).await?;
    audit.subject(&user.name);
    audit.commit(tx).await?;
    Ok(ShownOnce(invitation))
}

/// Change whether a user is an administrator or disabled
#[utoipa::path(patch, path = "/users/{user}", tag = "users", params(("user" = String, Path)), request_body = UserChange,
    responses((status = 200, body = UserSummary), Problems), security(("session" = []), ("token" = ["installation"])))]
pub async fn change(
    State(pool): State<PgPool>,
    _: Administrator,
    audit: Audit,
    Path(name): Path<String>,
    Body(change): Body<UserChange>,
) -> Result<Json<UserSummary>> {
    let mut tx = pool.begin().await?;
    let mut user = users::named(&mut tx, &name).await?.ok_or_else(|| HttpError::missing("user", &name))?;
    user.administrator = change.administrator.unwrap_or(user.administrator);
    user.disabled_at = match change.disabled {
        Some(true) => user.disabled_at.or_else(|| Some(clock::now())),
        Some(false) => None,
        None => user.disabled_at,
    };
    let stays = user.administrator && user.disabled_at.is_none();
    if !stays && !users::another_administrator(&mut tx, user.id).await? {
        return Err(HttpError::Conflict("at least one administrator must remain".into()));
    }
    users::update(&mut tx, &user).await?;
    audit.detail(serde_json::json!({"administrator": change.administrator, "disabled": change.disabled}));
    audit.commit(tx).await?;
    Ok(Json(summary(user)))
}

/// Make a new link by which somebody chooses a password
#[utoipa::path(post, path = "/users/{user}/invitation", tag = "users", params(("user" = String, Path)),
    responses((status = 201, body = Invitation), Problems), security(("session" = []), ("token" = ["installation"])))]
pub async fn invite_again(
    State(pool): State<PgPool>,
    _: Administrator,
    audit: Audit,
    Path(name): Path<String>,
) -> Result<ShownOnce<Invitation>> {
    let mut tx = pool.begin().await?;
    let user = users::named(&mut tx, &name).await?.ok_or_else(|| HttpError::missing("user", &name))?;
    let invitation = people::invite(&mut tx, &user).await?;
    audit.commit(tx).await?;
    Ok(ShownOnce(invitation))
}

fn summary(user: User) -> UserSummary {
    UserSummary {
        name: user.name,
        administrator: user.administrator,
        disabled: user.disabled_at.is_some(),
        invited: user.password_hash.is_none(),
        created_at: user.created_at,
    }
}
