//! Who is signed in.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;

pub async fn insert(
    db: &mut PgConnection,
    secret_hash: &[u8],
    user: Uuid,
    now: DateTime<Utc>,
    expires_at: DateTime<Utc>,
) -> Result<()> {
    sqlx::query!(
        "INSERT INTO sessions (secret_hash, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4)",
        secret_hash,
        user,
        now,
        expires_at
    )
    .execute(&mut *db)
    .await?;
    sqlx::query!("DELETE FROM sessions WHERE expires_at < $1", now).execute(db).await?;
    Ok(())
}

/// Whose session it is, if it has not expired.
pub async fn user(db: &mut PgConnection, secret_hash: &[u8], now: DateTime<Utc>) -> Result<Option<Uuid>> {
    let user = sqlx::query_scalar!(
        "SELECT user_id FROM sessions JOIN users ON users.id = user_id
         WHERE secret_hash = $1 AND expires_at > $2 AND disabled_at IS NULL",
        secret_hash,
        now
    );
    Ok(user.fetch_optional(db).await?)
}

pub async fn delete(db: &mut PgConnection, secret_hash: &[u8]) -> Result<()> {
    sqlx::query!("DELETE FROM sessions WHERE secret_hash = $1", secret_hash).execute(db).await?;
    Ok(())
}
