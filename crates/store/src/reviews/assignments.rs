//! Who has which conversation of a queue.
//!
//! Whoever takes one locks the item first and then looks, in a statement of its own, whether it still has a place: what
//! others did before the lock was had is seen by then. So two raters never get the same place.

use chrono::{DateTime, Utc};
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use crate::Result;

/// The conversation that a rater holds now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldAssignment {
    pub conversation: Uuid,
    pub ordinal: i32,
    /// `None`: it was given to them by name.
    pub expires_at: Option<DateTime<Utc>>,
}

/// How many conversations a rater could be given, those that they hold among them.
pub async fn count_open(db: &mut PgConnection, queue: Uuid, rater: &str, now: DateTime<Utc>) -> Result<i64> {
    let left = sqlx::query_scalar!(r#"SELECT count(*) AS "left!" FROM review_open_for($1, $2, $3)"#, queue, rater, now);
    Ok(left.fetch_one(db).await?)
}

/// Gives a rater what they already hold, or else the first that has a place for them. `None` if there is none, or if
/// others are just taking all there are: [`left`] tells them apart.
pub async fn take(
    db: &mut PgConnection,
    queue: Uuid,
    rater: &str,
    now: DateTime<Utc>,
    expires_at: DateTime<Utc>,
) -> Result<Option<HeldAssignment>> {
    let mut tx = db.begin().await?;
    let found = sqlx::query!(
        "SELECT i.conversation_id, i.ordinal FROM review_items i
              JOIN review_open_for($1, $2, $3) o ON o.conversation_id = i.conversation_id
         WHERE i.queue_id = $1 ORDER BY o.mine DESC, i.ordinal LIMIT 1 FOR UPDATE OF i SKIP LOCKED",
        queue,
        rater,
        now
    )
    .fetch_optional(&mut *tx)
    .await?;
    let Some(found) = found else { return Ok(None) };
    // What an admin gave to somebody by name stays theirs.
    let taken = sqlx::query!(
        "INSERT INTO review_assignments AS known (queue_id, conversation_id, rater, state, assigned_at, expires_at)
         SELECT $1, conversation_id, $2, 'assigned', $3, $4 FROM review_open_for($1, $2, $3) WHERE conversation_id = $5
         ON CONFLICT (queue_id, conversation_id, rater) DO UPDATE
             SET expires_at = CASE WHEN known.expires_at IS NULL THEN NULL ELSE EXCLUDED.expires_at END
         WHERE known.state = 'assigned'
         RETURNING expires_at",
        queue,
        rater,
        now,
        expires_at,
        found.conversation_id
    )
    .fetch_optional(&mut *tx)
    .await?;
    tx.commit().await?;
    let (conversation, ordinal) = (found.conversation_id, found.ordinal);
    Ok(taken.map(|row| HeldAssignment { conversation, ordinal, expires_at: row.expires_at }))
}

/// A rater leaves out what they hold. False if they do not hold it.
pub async fn skip(
    db: &mut PgConnection,
    queue: Uuid,
    conversation: Uuid,
    rater: &str,
    now: DateTime<Utc>,
) -> Result<bool> {
    let done = sqlx::query!(
        "UPDATE review_assignments SET state = 'skipped', finished_at = $4, expires_at = NULL
         WHERE queue_id = $1 AND conversation_id = $2 AND rater = $3 AND state = 'assigned'",
        queue,
        conversation,
        rater,
        now
    );
    Ok(done.execute(db).await?.rows_affected() == 1)
}

/// Gives a conversation to somebody by name, also what they had skipped. False if they have rated it.
pub async fn assign(
    db: &mut PgConnection,
    queue: Uuid,
    conversation: Uuid,
    rater: &str,
    by: &str,
    now: DateTime<Utc>,
) -> Result<bool> {
    let done = sqlx::query!(
        "INSERT INTO review_assignments AS known (queue_id, conversation_id, rater, state, assigned_by, assigned_at)
         VALUES ($1, $2, $3, 'assigned', $4, $5)
         ON CONFLICT (queue_id, conversation_id, rater) DO UPDATE
             SET state = 'assigned', assigned_by = EXCLUDED.assigned_by, assigned_at = EXCLUDED.assigned_at,
                 expires_at = NULL, finished_at = NULL
         WHERE known.state <> 'done'",
        queue,
        conversation,
        rater,
        by,
        now
    );
    Ok(done.execute(db).await?.rows_affected() == 1)
}

/// Takes a conversation back from somebody who has not rated it. False if there was nothing to take.
pub async fn withdraw(db: &mut PgConnection, queue: Uuid, conversation: Uuid, rater: &str) -> Result<bool> {
    let done = sqlx::query!(
        "DELETE FROM review_assignments
         WHERE queue_id = $1 AND conversation_id = $2 AND rater = $3 AND state = 'assigned'",
        queue,
        conversation,
        rater
    );
    Ok(done.execute(db).await?.rows_affected() == 1)
}
