//! Answers that were given to requests with an Idempotency-Key.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;

/// The state of a key.
pub enum KeyState {
    /// Nothing: the request is to be done, and its answer kept.
    New,
    /// It was given with another request.
    Other,
    /// Its request is being done.
    Pending,
    Answered {
        status: i16,
        response: Value,
    },
    /// It was answered, and the answer was not kept.
    Unkept,
}

/// Claims a key. Keys are forgotten after a day, and a request that was never answered after an hour.
pub async fn claim(
    db: &mut PgConnection,
    user: Uuid,
    key: &str,
    request_hash: &[u8],
    now: DateTime<Utc>,
) -> Result<KeyState> {
    sqlx::query!(
        "DELETE FROM idempotency_keys WHERE created_at < $1::timestamptz - interval '1 day'
            OR (status IS NULL AND created_at < $1::timestamptz - interval '1 hour')",
        now
    )
    .execute(&mut *db)
    .await?;
    let new = sqlx::query!(
        "INSERT INTO idempotency_keys (user_id, key, request_hash, created_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (user_id, key) DO NOTHING",
        user,
        key,
        request_hash,
        now
    );
    if new.execute(&mut *db).await?.rows_affected() == 1 {
        return Ok(KeyState::New);
    }
    let row = sqlx::query!(
        "SELECT request_hash, status, response FROM idempotency_keys WHERE user_id = $1 AND key = $2",
        user,
        key
    );
    Ok(match row.fetch_optional(db).await? {
        Some(row) if row.request_hash != request_hash => KeyState::Other,
        Some(row) => match (row.status, row.response) {
            (Some(status), Some(response)) => KeyState::Answered { status, response },
            (Some(_), None) => KeyState::Unkept,
            (None, _) => KeyState::Pending,
        },
        // It failed just now, and may be tried again.
        None => KeyState::Pending,
    })
}

/// `response`: `None` if it is not to be kept.
pub async fn answer(db: &mut PgConnection, user: Uuid, key: &str, status: i16, response: Option<&Value>) -> Result<()> {
    sqlx::query!(
        "UPDATE idempotency_keys SET status = $3, response = $4 WHERE user_id = $1 AND key = $2",
        user,
        key,
        status,
        response
    )
    .execute(db)
    .await?;
    Ok(())
}

/// The request failed, and may be tried again.
pub async fn release(db: &mut PgConnection, user: Uuid, key: &str) -> Result<()> {
    sqlx::query!("DELETE FROM idempotency_keys WHERE user_id = $1 AND key = $2", user, key).execute(db).await?;
    Ok(())
}
