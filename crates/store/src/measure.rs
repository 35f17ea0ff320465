//! What benchmarks ask.

use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use super::Result;

/// Bytes that the database takes on disk, indexes and all.
pub async fn size(db: &mut PgConnection) -> Result<i64> {
    let size = sqlx::query_scalar!(r#"SELECT pg_database_size(current_database()) AS "size!""#);
    Ok(size.fetch_one(db).await?)
}

/// What users, agents and tools said in a run.
pub async fn messages(db: &mut PgConnection, run: Uuid) -> Result<i64> {
    let messages = sqlx::query_scalar!(
        r#"SELECT count(*) AS "messages!" FROM tasks c JOIN events e ON task_id = c.id
           WHERE run_id = $1 AND (event -> 'event' -> 'user_spoke' IS NOT NULL
               OR event -> 'event' -> 'agent_spoke' IS NOT NULL OR event -> 'event' -> 'tool_answered' IS NOT NULL)"#,
        run
    );
    Ok(messages.fetch_one(db).await?)
}

/// Conversations that nobody has claimed yet.
pub async fn left_to_begin(db: &mut PgConnection, run: Uuid) -> Result<i32> {
    let left = sqlx::query_scalar!(r#"SELECT planned - next_position AS "left!" FROM runs WHERE id = $1"#, run);
    Ok(left.fetch_one(db).await?)
}

/// Conversations of all runs.
pub async fn conversations(db: &mut PgConnection) -> Result<i64> {
    Ok(sqlx::query_scalar!(r#"SELECT count(*) AS "n!" FROM tasks"#).fetch_one(db).await?)
}

/// Writes a run once more, as `copy`, with all of its conversations. Their ids are as many milliseconds later.
pub async fn copy_run(db: &mut PgConnection, run: Uuid, copy: Uuid, later: i32) -> Result<()> {
    let mut tx = db.begin().await?;
    sqlx::query!(
        "INSERT INTO runs SELECT (jsonb_populate_record(r, jsonb_build_object('id', $2::uuid))).* FROM runs r WHERE id = $1",
        run,
        copy
    )
    .execute(&mut *tx)
    .await?;
    // The first 48 bits of an id are its time.
    sqlx::query!(
        "WITH old AS (
             SELECT id, (lpad(to_hex(('x' || substr(h, 1, 12))::bit(48)::bigint + $3), 12, '0') || substr(h, 13))::uuid AS new
             FROM (SELECT id, replace(id::text, '-', '') AS h FROM tasks WHERE run_id = $1) AS ids
         ), conversations_copied AS (
             INSERT INTO tasks
             SELECT (jsonb_populate_record(c, jsonb_build_object('id', new, 'run_id', $2::uuid))).*
             FROM tasks c JOIN old USING (id)
         ), verdicts_copied AS (
             INSERT INTO verdicts
             SELECT (jsonb_populate_record(v, jsonb_build_object('conversation_id', new))).*
             FROM verdicts v JOIN old ON old.id = conversation_id
         )
         INSERT INTO events (task_id, seq, event, created_at)
         SELECT new, seq, event, created_at
         FROM old CROSS JOIN LATERAL (SELECT * FROM events WHERE task_id = old.id ORDER BY seq) AS of_one",
        run,
        copy,
        i64::from(later)
    )
    .execute(&mut *tx)
    .await?;
    Ok(tx.commit().await?)
}

/// Makes a run longer by its first `own` conversations, `copy` times as far behind them, with or without their events. Their
/// ids are later by as many times what they took: those of a long run follow each other in time, and so in the indexes.
pub async fn lengthen(db: &mut PgConnection, run: Uuid, own: i32, copy: i32, with_events: bool) -> Result<()> {
    let mut tx = db.begin().await?;
    // The first 48 bits of an id are its time.
    sqlx::query!(
        "WITH own AS (
             SELECT id, position, h, ('x' || substr(h, 1, 12))::bit(48)::bigint AS at
             FROM (SELECT id, position, replace(id::text, '-', '') AS h FROM tasks
                   WHERE run_id = $1 AND position < $2 AND NOT superseded) AS ids
         ), took AS (SELECT max(at) - min(at) + 1 AS ms FROM own
         ), old AS (
             SELECT id, position, (lpad(to_hex(at + $3 * ms), 12, '0') || substr(h, 13))::uuid AS new FROM own, took
         ), conversations_copied AS (
             INSERT INTO tasks
             SELECT (jsonb_populate_record(c, jsonb_build_object('id', new, 'position', c.position + $2 * $3::int))).*
             FROM tasks c JOIN old USING (id)
         ), verdicts_copied AS (
             INSERT INTO verdicts
             SELECT (jsonb_populate_record(v, jsonb_build_object('conversation_id', new))).*
             FROM verdicts v JOIN old ON old.id = conversation_id
         )
         INSERT INTO events (task_id, seq, event, created_at)
         SELECT new, seq, event, created_at
         FROM (SELECT * FROM old WHERE $4 ORDER BY position) AS ordered
              CROSS JOIN LATERAL (SELECT * FROM events WHERE task_id = ordered.id ORDER BY seq) AS of_one",
        run,
        own,
        i64::from(copy),
        with_events
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!(
        "UPDATE runs SET planned = greatest(planned, $2), next_position = greatest(next_position, $2) WHERE id = $1",
        run,
        own * (copy + 1)
    )
    .execute(&mut *tx)
    .await?;
    Ok(tx.commit().await?)
}

/// Lets PostgreSQL finish what it puts off: what its autovacuum does while conversations are played, if they are not copied in
/// a moment as here, and a checkpoint.
pub async fn settle(db: &mut PgConnection) -> Result<()> {
    sqlx::query!("VACUUM (ANALYZE)").execute(&mut *db).await?;
    sqlx::query!("CHECKPOINT").execute(db).await?;
    Ok(())
}
