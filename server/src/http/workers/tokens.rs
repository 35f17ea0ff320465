//! The tokens by which workers join.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use chrono::TimeDelta;
use domain::api::workers::{JoinTokenSummary, NewJoinToken, NewJoinTokenAnswer};
use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

use crate::http::access::Administrator;
use crate::http::audit::Audit;
use crate::http::error::{HttpError, Problems, Result};
use crate::http::extract::{Body, Path};
use crate::http::shown_once::ShownOnce;
use crate::people;
use store::clock;
use store::join_tokens::{self, JoinToken};

const LONGEST_LIFE: TimeDelta = TimeDelta::days(3650);

/// Join tokens, newest first
#[utoipa::path(get, path = "/join-tokens", tag = "models",
    responses((status = 200, body = Vec<JoinTokenSummary>), Problems),
    security(("session" = []), ("token" = ["installation"])))]
pub async fn list(State(pool): State<PgPool>, _: Administrator) -> Result<Json<Vec<JoinTokenSummary>>> {
    Ok(Json(join_tokens::all(&mut *pool.acquire().await?).await?))
}

/// Make a join token
///
/// Its secret is shown once, in this answer. Anybody who has it can offer endpoints to this installation, which then
/// sends conversations there. It allows nothing else.
#[utoipa::path(post, path = "/join-tokens", tag = "models", request_body = NewJoinToken,
    responses((status = 201, body = NewJoinTokenAnswer), Problems),
    security(("session" = []), ("token" = ["installation"])))]
pub async fn create(
    State(pool): State<PgPool>,
    Administrator(caller): Administrator,
    audit: Audit,
    Body(new): Body<NewJoinToken>,
) -> Result<ShownOnce<NewJoinTokenAnswer>> {
    let name = people::title(&new.name, 100).map_err(|detail| HttpError::invalid("/name", detail))?;
    let now = clock::now();
    let expires_at = new.expires_at.unwrap_or(now + people::JOIN_TOKEN_LIFE);
    if expires_at <= now || expires_at > now + LONGEST_LIFE {
        return Err(HttpError::invalid("/expires_at", "expected a time in the future, within ten years"));
    }
    let token = JoinToken { id: clock::id(), name, created_by: caller.name, created_at: now, expires_at };
    let mut tx = pool.begin().await?;
    let secret = people::keep_join_token(&mut tx, &token).await?;
    audit.subject(token.id);
    audit.detail(json!({"name": token.name}));
    audit.commit(tx).await?;
    let id = token.id.to_string();
    let JoinToken { name, created_by, created_at, expires_at, .. } = token;
    let token = JoinTokenSummary { id, name, created_by, created_at, expires_at, last_used_at: None };
    Ok(ShownOnce(NewJoinTokenAnswer { secret, token }))
}

/// Delete a join token
///
/// Workers that joined with it get no more requests.
#[utoipa::path(delete, path = "/join-tokens/{token}", tag = "models", params(("token" = Uuid, Path)),
    responses((status = 204), Problems), security(("session" = []), ("token" = ["installation"])))]
pub async fn delete(
    State(pool): State<PgPool>,
    _: Administrator,
    audit: Audit,
    Path(id): Path<String>,
) -> Result<StatusCode> {
    let missing = || HttpError::missing("join token", &id);
    let token: Uuid = id.parse().map_err(|_| missing())?;
    let mut tx = pool.begin().await?;
    if !join_tokens::delete(&mut tx, token).await? {
        return Err(missing());
    }
    audit.commit(tx).await?;
    Ok(StatusCode::NO_CONTENT)
}
