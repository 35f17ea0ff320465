//! Events: appended, never changed.

use domain::Event;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{BadRow, Result};

/// All events of a conversation, in order.
pub async fn of(db: &mut PgConnection, conversation: Uuid) -> Result<Vec<Event>> {
    let rows = sqlx::query_scalar!(
        r#"SELECT event::text AS "event!" FROM events WHERE conversation_id = $1 ORDER BY seq"#,
        conversation
    )
    .fetch_all(db)
    .await?;
    rows.into_iter().map(|event| serde_json::from_str(&event).map_err(|e| bad(conversation, &e).into())).collect()
}

/// Gives other attempts the events of those whose judge failed, up to what the judge was to say: `to[i]` those of `from[i]`.
pub async fn copy_before_judge(db: &mut PgConnection, from: &[Uuid], to: &[Uuid]) -> Result<()> {
    sqlx::query!(
        r#"INSERT INTO events (conversation_id, seq, event, created_at)
           SELECT attempt.next, seq, event, created_at
           FROM unnest($1::uuid[], $2::uuid[]) AS attempt (spoiled, next)
           JOIN events ON conversation_id = spoiled AND seq <=
               (SELECT max(seq) FROM events WHERE conversation_id = spoiled
                AND event -> 'event' -> 'refused' IS NULL AND event -> 'event' -> 'finished' IS NULL)"#,
        from,
        to
    )
    .execute(db)
    .await?;
    Ok(())
}

fn bad(conversation: Uuid, reason: &impl ToString) -> BadRow {
    BadRow { table: "events", column: "event", row: conversation.to_string(), reason: reason.to_string() }
}
