//! API tokens.

use std::collections::HashMap;

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

/// The tokens of these secrets that have not expired, and their people, who may still sign in. That they were used is kept to the
/// minute.
pub async fn used(
    db: &mut PgConnection,
    secret_hashes: &[Vec<u8>],
    now: DateTime<Utc>,
) -> Result<HashMap<Vec<u8>, (Token, User)>> {
    let rows = sqlx::query!(
        "SELECT secret_hash, t.id, user_id, project_id, t.name, scopes, t.created_at, expires_at, last_used_at,
                users.name AS user_name, password_hash, administrator, disabled_at, users.created_at AS user_since
         FROM api_tokens t JOIN users ON users.id = user_id
         WHERE secret_hash = ANY($1) AND (expires_at IS NULL OR expires_at > $2) AND disabled_at IS NULL",
        secret_hashes,
        now
    );
    let rows = rows.fetch_all(&mut *db).await?;
    let is_due = |last: Option<DateTime<Utc>>| last.is_none_or(|last| last < now - NOTED_AGAIN);
    let due: Vec<Uuid> = rows.iter().filter(|row| is_due(row.last_used_at)).map(|row| row.id).collect();
    if !due.is_empty() {
        note_used(db, &due, now).await?;
    }
    Ok(rows
        .into_iter()
        .map(|row| {
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
            (row.secret_hash, (token, user))
        })
        .collect())
}

/// Of many requests at once one notes it, and none waits for another.
async fn note_used(db: &mut PgConnection, tokens: &[Uuid], now: DateTime<Utc>) -> Result<()> {
    sqlx::query!(
        "UPDATE api_tokens SET last_used_at = $2 WHERE id IN (
             SELECT id FROM api_tokens
             WHERE id = ANY($1) AND (last_used_at IS NULL OR last_used_at < $2::timestamptz - interval '1 minute')
             FOR NO KEY UPDATE SKIP LOCKED)",
        tokens,
        now
    )
    .execute(db)
    .await?;
    Ok(())
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
