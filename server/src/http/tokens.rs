//! API tokens of whoever asks.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::api::{NewToken, NewTokenAnswer, TokenSummary};
use sqlx::PgPool;
use uuid::Uuid;

use super::access::SignedIn;
use super::audit::Audit;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path};
use super::shown_once::ShownOnce;
use crate::people;
use store::clock;
use store::projects;
use store::tokens::{self, Token};

/// Tokens of one person: more programs than anybody keeps apart.
const MOST: usize = 100;

/// Your tokens
#[utoipa::path(get, path = "/tokens", tag = "tokens", responses((status = 200, body = Vec<TokenSummary>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn list(State(pool): State<PgPool>, SignedIn(caller): SignedIn) -> Result<Json<Vec<TokenSummary>>> {
    let mut db = pool.acquire().await?;
    let mut all = Vec::new();
    for token in tokens::of_user(&mut db, caller.id).await? {
        let project = match token.project_id {
            Some(id) => projects::get(&mut db, id).await?.map(|project| project.name),
            None => None,
        };
        all.push(summary(token, project));
    }
    Ok(Json(all))
}

/// Make a token
///
/// Its secret is shown once, in this answer. A token can do no more than the user who made it. Tokens are made in
/// sessions, not with other tokens.
#[utoipa::path(post, path = "/tokens", tag = "tokens", request_body = NewToken,
    responses((status = 201, body = NewTokenAnswer), Problems), security(("session" = [])))]
pub async fn create(
    State(pool): State<PgPool>,
    SignedIn(caller): SignedIn,
    audit: Audit,
    Body(new): Body<NewToken>,
) -> Result<ShownOnce<NewTokenAnswer>> {
    if caller.token.is_some() {
        return Err(HttpError::Forbidden(
            "a token cannot make tokens; sign in, or use `groundstate tokens create`".into(),
        ));
    }
    let name = people::title(&new.name, 100).map_err(|detail| HttpError::invalid("/name", detail))?;
    if new.scopes.is_empty() {
        return Err(HttpError::invalid("/scopes", "name at least one of read, author, run, admin"));
    }
    let now = clock::now();
    if new.expires_at.is_some_and(|at| at <= now) {
        return Err(HttpError::invalid("/expires_at", "is in the past"));
    }
    let mut tx = pool.begin().await?;
    if tokens::of_user(&mut tx, caller.id).await?.len() >= MOST {
        return Err(HttpError::Conflict(format!("you have {MOST} tokens; delete those that nothing uses any more")));
    }
    let project = match &new.project {
        None => None,
        Some(name) => {
            let missing = || HttpError::invalid("/project", format!("there is no project {name}"));
            let project = projects::named(&mut tx, name).await?.ok_or_else(missing)?;
            caller.role(&mut tx, project.id).await?.ok_or_else(missing)?;
            Some(project)
        }
    };
    let token = Token {
        id: clock::id(),
        user_id: caller.id,
        project_id: project.as_ref().map(|project| project.id),
        name,
        scopes: new.scopes.iter().collect::<BTreeSet<_>>().into_iter().map(ToString::to_string).collect(),
        created_at: now,
        expires_at: new.expires_at,
        last_used_at: None,
    };
    let secret = people::keep_token(&mut tx, &token).await?;
    audit.subject(token.id);
    audit.detail(serde_json::json!({"name": token.name, "scopes": token.scopes}));
    audit.commit(tx).await?;
    Ok(ShownOnce(NewTokenAnswer { secret, token: summary(token, project.map(|project| project.name)) }))
}

/// Delete a token
///
/// In a session, or with the token itself. A leaked token cannot delete others.
#[utoipa::path(delete, path = "/tokens/{token}", tag = "tokens", params(("token" = Uuid, Path)),
    responses((status = 204), Problems), security(("session" = [])))]
pub async fn delete(
    State(pool): State<PgPool>,
    SignedIn(caller): SignedIn,
    audit: Audit,
    Path(id): Path<String>,
) -> Result<StatusCode> {
    let missing = || HttpError::missing("token", &id);
    let token: Option<Uuid> = id.parse().ok();
    if caller.token.is_some_and(|own| Some(own.id) != token) {
        return Err(HttpError::Forbidden(
            "a token cannot delete other tokens; sign in, or use `groundstate tokens delete`".into(),
        ));
    }
    let token = token.ok_or_else(missing)?;
    let mut tx = pool.begin().await?;
    if !tokens::delete(&mut tx, caller.id, token).await? {
        return Err(missing());
    }
    audit.commit(tx).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn summary(token: Token, project: Option<String>) -> TokenSummary {
    TokenSummary {
        id: token.id.to_string(),
        name: token.name,
        scopes: token.scopes.iter().filter_map(|name| name.parse().ok()).collect(),
        project,
        created_at: token.created_at,
        expires_at: token.expires_at,
        last_used_at: token.last_used_at,
    }
}
