//! Events: appended, never changed.

use futures::TryStreamExt;
use serde::de::DeserializeOwned;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{BadRow, Result};

/// All events of a task, in order.
pub async fn of<E: DeserializeOwned>(db: &mut PgConnection, task: Uuid) -> Result<Vec<E>> {
    let rows =
        sqlx::query_scalar!(r#"SELECT event::text AS "event!" FROM events WHERE task_id = $1 ORDER BY seq"#, task)
            .fetch_all(db)
            .await?;
    rows.iter().map(|event| read(task, event)).collect()
}

/// Hands over the events of a task in order, one at a time.
pub async fn each<E: DeserializeOwned>(db: &mut PgConnection, task: Uuid, mut each: impl FnMut(E)) -> Result<()> {
    let query =
        sqlx::query_scalar!(r#"SELECT event::text AS "event!" FROM events WHERE task_id = $1 ORDER BY seq"#, task);
    let mut rows = query.fetch(db);
    while let Some(event) = rows.try_next().await? {
        each(read(task, &event)?);
    }
    Ok(())
}

/// The events of a task after one, in order; all from the first one on after -1.
pub async fn page<E: DeserializeOwned>(db: &mut PgConnection, task: Uuid, after: i32, limit: i64) -> Result<Vec<E>> {
    let rows = sqlx::query_scalar!(
        r#"SELECT event::text AS "event!" FROM events WHERE task_id = $1 AND seq > $2 ORDER BY seq LIMIT $3"#,
        task,
        after,
        limit
    );
    rows.fetch_all(db).await?.iter().map(|event| read(task, event)).collect()
}

/// Gives retries the events that they begin with: `to[i]` those of `from[i]`, up to number `through[i]`.
pub async fn copy_through(db: &mut PgConnection, from: &[Uuid], to: &[Uuid], through: &[i32]) -> Result<()> {
    sqlx::query!(
        "INSERT INTO events (task_id, seq, event, created_at)
         SELECT attempt.next, seq, event, created_at
         FROM unnest($1::uuid[], $2::uuid[], $3::int[]) AS attempt (spoiled, next, through)
         JOIN events ON task_id = spoiled AND seq <= through",
        from,
        to,
        through
    )
    .execute(db)
    .await?;
    Ok(())
}

/// An event as it is stored.
pub(crate) fn read<E: DeserializeOwned>(task: Uuid, event: &str) -> Result<E> {
    serde_json::from_str(event).map_err(|error| bad(task, &error).into())
}

fn bad(task: Uuid, reason: &impl ToString) -> BadRow {
    BadRow { table: "events", column: "event", row: task.to_string(), reason: reason.to_string() }
}
