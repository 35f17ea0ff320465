//! One-time links.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;

/// A link replaces those that were made before for the same person.
pub async fn insert(
    db: &mut PgConnection,
    secret_hash: &[u8],
    user: Option<Uuid>,
    now: DateTime<Utc>,
    expires_at: DateTime<Utc>,
) -> Result<()> {
    sqlx::query!("DELETE FROM invitations WHERE user_id IS NOT DISTINCT FROM $1", user).execute(&mut *db).await?;
    sqlx::query!(
        "INSERT INTO invitations (secret_hash, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4)",
        secret_hash,
        user,
        now,
        expires_at
    )
    .execute(db)
    .await?;
    Ok(())
}

/// For whom a link is, `Some(None)` for the first administrator. `None` if there is none, or no longer.
pub async fn find(db: &mut PgConnection, secret_hash: &[u8], now: DateTime<Utc>) -> Result<Option<Option<Uuid>>> {
    let found = sqlx::query_scalar!(
        "SELECT user_id FROM invitations WHERE secret_hash = $1 AND expires_at > $2",
        secret_hash,
        now
    );
    Ok(found.fetch_optional(db).await?)
}

/// Uses a link up: for whom it is, `Some(None)` for the first administrator. `None` if there is none, or no longer.
pub async fn take(db: &mut PgConnection, secret_hash: &[u8], now: DateTime<Utc>) -> Result<Option<Option<Uuid>>> {
    let taken = sqlx::query_scalar!(
        "DELETE FROM invitations WHERE secret_hash = $1 AND expires_at > $2 RETURNING user_id",
        secret_hash,
        now
    );
    Ok(taken.fetch_optional(db).await?)
}
