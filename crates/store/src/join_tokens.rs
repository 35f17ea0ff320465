//! The tokens by which workers join.

use chrono::{DateTime, Utc};
use domain::api::workers::JoinTokenSummary;
use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;

#[derive(Debug, Clone)]
pub struct JoinToken {
    pub id: Uuid,
    pub name: String,
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
}

pub async fn insert(db: &mut PgConnection, token: &JoinToken, secret_hash: &[u8]) -> Result<()> {
    sqlx::query!(
        "INSERT INTO join_tokens (id, name, secret_hash, created_by, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6)",
        token.id,
        token.name,
        secret_hash,
        token.created_by,
        token.created_at,
        token.expires_at
    )
    .execute(db)
    .await?;
    Ok(())
}

/// The token of a secret, and when it expires. That it was used is kept to the minute.
pub async fn used(
    db: &mut PgConnection,
    secret_hash: &[u8],
    now: DateTime<Utc>,
) -> Result<Option<(Uuid, DateTime<Utc>)>> {
    let known = sqlx::query!("SELECT id, expires_at FROM join_tokens WHERE secret_hash = $1", secret_hash);
    let Some(known) = known.fetch_optional(&mut *db).await? else { return Ok(None) };
    let (id, expires_at) = (known.id, known.expires_at);
    sqlx::query!(
        "UPDATE join_tokens SET last_used_at = $2
         WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2::timestamptz - interval '1 minute')",
        id,
        now
    )
    .execute(db)
    .await?;
    Ok(Some((id, expires_at)))
}

/// All, newest first.
pub async fn all(db: &mut PgConnection) -> Result<Vec<JoinTokenSummary>> {
    let tokens = sqlx::query_as!(
        JoinTokenSummary,
        r#"SELECT id::text AS "id!", name, created_by, created_at, expires_at, last_used_at
           FROM join_tokens ORDER BY created_at DESC, id DESC"#
    );
    Ok(tokens.fetch_all(db).await?)
}

/// Withdraws a token; its workers are gone with it. False if there was none.
pub async fn delete(db: &mut PgConnection, id: Uuid) -> Result<bool> {
    let done = sqlx::query!("DELETE FROM join_tokens WHERE id = $1", id).execute(db).await?;
    Ok(done.rows_affected() == 1)
}
