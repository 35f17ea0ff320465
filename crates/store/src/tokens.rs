//! API tokens.

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;
use super::users::User;

/// How much later a use of a token is noted again.
const NOTED_AGAIN: TimeDelta = TimeDelta::minutes(1);

#[derive(Debug, Clone)]
pub struct Token {
    pub id: Uuid,
    pub user_id: Uuid,
    /// `None`: every project of the person.
    pub project_id: Option<Uuid>,
    pub name: String,
    pub scopes: Vec<String>,
    pub created_at: DateTime<Utc>,
    pub expires_at: Option<DateTime<Utc>>,
    pub last_used_at: Option<DateTime<Utc>>,
}

pub async fn insert(db: &mut PgConnection, token: &Token, secret_hash: &[u8]) -> Result<()> {
    sqlx::query!(
        "INSERT INTO api_tokens (id, user_id, project_id, name, secret_hash, scopes, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        token.id,
        token.user_id,
        token.project_id,
        token.name,
        secret_hash,
        &token.scopes,
        token.created_at,
        token.expires_at
    )
    .execute(db)
    .await?;
    Ok(())
}

/// The token of a secret that has not expired, and its person, who may still sign in. That it was used is kept to the minute.
pub async fn used(db: &mut PgConnection, secret_hash: &[u8], now: DateTime<Utc>) -> Result<Option<(Token, User)>> {
    let row = sqlx::query!(
        "SELECT t.id, user_id, project_id, t.name, scopes, t.created_at, expires_at, last_used_at,
                users.name AS user_name, password_hash, administrator, disabled_at, users.created_at AS user_since
         FROM api_tokens t JOIN users ON users.id = user_id
         WHERE secret_hash = $1 AND (expires_at IS NULL OR expires_at > $2) AND disabled_at IS NULL",
        secret_hash,
        now
    );
    let Some(row) = row.fetch_optional(&mut *db).await? else { return Ok(None) };
    if row.last_used_at.is_none_or(|last| last < now - NOTED_AGAIN) {
        // Of many requests at once one notes it.
        sqlx::query!(
            "UPDATE api_tokens SET last_used_at = $2
         WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2::timestamptz - interval '1 minute')",
            row.id,
            now
        )
        .execute(db)
        .await?;
    }
    let user = User {
        id: row.user_id,
        name: row.user_name,
        password_hash: row.password_hash,
        administrator: row.administrator,
        disabled_at: row.disabled_at,
        created_at: row.user_since,
    };
    let token = Token {
        id: row.id,
        user_id: row.user_id,
        project_id: row.project_id,
        name: row.name,
        scopes: row.scopes,
        created_at: row.created_at,
        expires_at: row.expires_at,
        last_used_at: row.last_used_at,
    };
    Ok(Some((token, user)))
}

/// The tokens of a person, newest first.
pub async fn of_user(db: &mut PgConnection, user: Uuid) -> Result<Vec<Token>> {
    let tokens = sqlx::query_as!(
        Token,
        "SELECT id, user_id, project_id, name, scopes, created_at, expires_at, last_used_at
         FROM api_tokens WHERE user_id = $1 ORDER BY created_at DESC, id DESC",
        user
    );
    Ok(tokens.fetch_all(db).await?)
}

/// False if the person has no such token.
pub async fn delete(db: &mut PgConnection, user: Uuid, id: Uuid) -> Result<bool> {
    let done = sqlx::query!("DELETE FROM api_tokens WHERE user_id = $1 AND id = $2", user, id);
    Ok(done.execute(db).await?.rows_affected() == 1)
}
